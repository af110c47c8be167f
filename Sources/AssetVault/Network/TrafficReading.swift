import SealedPack
import VaultErrors

/// Reads the days of a log, one after the other. A downloader's log is bounded as a whole: others may have filled it.
struct TrafficReading {
    private let log: TrafficLog
    /// Bytes of a day that are read: of a longer one the rest does not count. A line stands for a mebibyte, as a rule.
    private let dayLimit: Int
    private var budget: StoreArea.Budget
    /// The maximum number of packs; lines of others do not count.
    private let packLimit: Int
    /// A log names each pack in many lines.
    private var packs: [ArraySlice<UInt8>: PackID] = [:]

    init(_ log: TrafficLog) {
        self.log = log
        switch log.role {
        case .app: (dayLimit, budget, packLimit) = (16 << 20, .unlimited, .max)
        case .downloader:
            (dayLimit, packLimit) = (StoreArea.FileKind.traffic.limit, 1 << 15)
            budget = StoreArea.Budget(bytes: 8 << 20)
        }
    }

    /// Passes the entries of a day to `body`. Lines that a killed process left incomplete are skipped, and days for which the budget
    /// does not suffice.
    mutating func forEachEntry(on day: String, _ body: (TrafficLog.Entry) -> Void) {
        guard let bytes = (try? log.bytes(of: day, upTo: dayLimit)) ?? nil, budget.take(bytes.count) else {
            return
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let entry = entry(line) { body(entry) }
        }
    }

    private mutating func entry(_ line: ArraySlice<UInt8>) -> TrafficLog.Entry? {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, let bytes = UInt64(String(decoding: words[0], as: UTF8.self)) else {
            return nil
        }
        let isMetered: Bool
        switch String(decoding: words[1], as: UTF8.self) {
        case "metered": isMetered = true
        case "unmetered": isMetered = false
        default: return nil
        }
        if words[2].elementsEqual([UInt8(ascii: "-")]) {
            return TrafficLog.Entry(bytes: bytes, isMetered: isMetered, pack: nil)
        }
        return pack(words[2]).map { TrafficLog.Entry(bytes: bytes, isMetered: isMetered, pack: $0) }
    }

    /// Nil for a text that is no pack's ID, and beyond the limit.
    private mutating func pack(_ name: ArraySlice<UInt8>) -> PackID? {
        if let known = packs[name] { return known }
        guard packs.count < packLimit, let id = try? PackID(String(decoding: name, as: UTF8.self)) else {
            return nil
        }
        // A copy: a slice keeps its whole day.
        packs[ArraySlice(Array(name))] = id
        return id
    }
}

extension TrafficLog {
    /// The entries of one day.
    func entries(on day: String) -> [Entry] {
        var reading = TrafficReading(self)
        var found: [Entry] = []
        reading.forEachEntry(on: day) { found.append($0) }
        return found
    }
}
