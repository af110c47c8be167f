public import SealedPack
import Synchronization
import SystemPackage
import UpdateFramework
public import VaultBase
import VaultFileSystem

/// What a role received over the network: one file a day, to which each process appends a line for some bytes of one pack. After a
/// power failure the last lines may be missing.
struct TrafficLog: Sendable {
    private let folder: FilePath
    private let store: StoreAccess
    var role: StoreRole { store.role }

    /// Number of days that are kept.
    static let keptDays = 92
    /// Number of names in the folder of days that are looked at when old days are removed.
    private static let nameLimit = 4096

    init(of store: StoreAccess) {
        folder = store.layout.traffic(of: store.role)
        self.store = store
    }

    /// One line of a day.
    struct Entry: Equatable {
        let bytes: UInt64
        let isMetered: Bool
        /// Nil for metadata.
        let pack: PackID?
    }

    /// A count that can't be written is lost: it stops no download.
    func add(_ entry: Entry, on day: String = today) {
        let line =
            "\(entry.bytes) \(entry.isMetered ? "metered" : "unmetered") \(entry.pack?.description ?? "-")\n"
        try? append(Array(line.utf8), on: day)
    }

    /// Other users may write in shared storage, so no link is followed, and only a regular file is opened.
    func append(_ line: [UInt8], on day: String) throws(VaultError) {
        let permissions = try store.layout.permissions(of: store.role)
        switch store.role {
        case .app: try FileSystem.createFolders(folder, permissions: permissions.folders)
        case .downloader: try store.layout.makeShared(folder)
        }
        guard let days = try openFolder() else { return }
        if try days.status(of: day) == nil {
            try removeOldDays(in: days)
            // Another process may be faster.
            _ = try? days.createFile(day, permissions: permissions.files)
        }
        guard try days.status(of: day)?.hardLinks == 1 else { return }
        try days.appendToFile(day).write(line.span, at: 0)
    }

    private func openFolder() throws(VaultError) -> Folder? {
        try store.layout.storeArea(of: store.role).openFolder(folder)
    }

    /// Days are named by their dates, which sort as they follow each other.
    private func removeOldDays(in folder: borrowing Folder) throws(VaultError) {
        for name in try Self.days(in: folder).sorted().dropLast(Self.keptDays - 1) {
            try folder.unlink(name)
        }
    }

    /// Files with other names are ignored.
    private static func days(in folder: borrowing Folder) throws(VaultError) -> [String] {
        try folder.names(upTo: nameLimit).names.map { String(decoding: $0, as: UTF8.self) }
            .filter { UTCTime("\($0)T00:00:00Z") != nil }
    }

    /// The dates of the last days that have a file, in order. Files with other dates, which another user may have made, are
    /// ignored.
    func days(until now: UTCTime = .now) throws(VaultError) -> [String] {
        guard let folder = try openFolder() else { return [] }
        var found: [String] = []
        for age in (-1...Self.keptDays).reversed() {
            let day = String(now.adding(days: -age).description.prefix(10))
            if try folder.status(of: day) != nil { found.append(day) }
        }
        return found
    }

    /// The first bytes of the file of a day, up to a limit; nil if there is none. Another user may have replaced the file.
    func bytes(of day: String, upTo limit: Int) throws(VaultError) -> [UInt8]? {
        guard let folder = try openFolder(), try folder.status(of: day)?.hardLinks == 1 else { return nil }
        let file = try folder.openFile(day)
        return try file.readExactly(Int(clamping: min(file.status().size, UInt64(limit))), at: 0)
    }

    static var today: String { String(UTCTime.now.description.prefix(10)) }
}

/// Counts the bytes of one transfer, and logs them now and then: a killed process loses the last few.
final class TrafficCounter: Sendable {
    private static let logged: UInt64 = 1 << 20

    private let pack: PackID?
    private let log: TrafficLog
    private let counts = Mutex<[Bool: UInt64]>([:])

    init(of pack: PackID?, in log: TrafficLog) { (self.pack, self.log) = (pack, log) }

    deinit { for isMetered in [false, true] { write(counts.withLock { $0[isMetered] ?? 0 }, isMetered) } }

    func add(_ count: Int, isMetered: Bool) {
        let due = counts.withLock { counts -> UInt64 in
            let sum = (counts[isMetered] ?? 0) + UInt64(count)
            // The counter of metadata may live longer than the command, so it logs at once.
            let isDue = pack == nil || sum >= Self.logged
            counts[isMetered] = isDue ? 0 : sum
            return isDue ? sum : 0
        }
        write(due, isMetered)
    }

    private func write(_ bytes: UInt64, _ isMetered: Bool) {
        guard bytes > 0 else { return }
        log.add(TrafficLog.Entry(bytes: bytes, isMetered: isMetered, pack: pack))
    }
}

/// Reads the days of a log, one after the other. A downloader's log is bounded as a whole, because another user may have filled it.
struct TrafficReading {
    private let log: TrafficLog
    /// Bytes of a day that are read: the rest is ignored. A line usually stands for a mebibyte.
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

    /// Nil for a text that is not a pack ID, and beyond the limit.
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

/// What a store received over the network, without the headers of HTTP: by day, for about three months, and by pack.
public struct Traffic: Sendable, Hashable {
    /// Bytes that were received.
    public struct Bytes: Sendable, Hashable {
        public fileprivate(set) var metered: UInt64 = 0
        public fileprivate(set) var unmetered: UInt64 = 0
        public var all: UInt64 { metered.saturatingAdding(unmetered) }

        fileprivate static func + (left: Self, right: Self) -> Self {
            Self(
                metered: left.metered.saturatingAdding(right.metered),
                unmetered: left.unmetered.saturatingAdding(right.unmetered))
        }
    }

    /// By dates such as `2026-11-24`, in UTC.
    public fileprivate(set) var days: [String: Bytes] = [:]
    public fileprivate(set) var packs: [PackID: Bytes] = [:]
    public fileprivate(set) var metadata = Bytes()
}

extension VaultStore {
    /// What apps and downloaders received for this store.
    public func traffic() async throws(VaultError) -> Traffic {
        var usage = Traffic()
        for role in StoreRole.allCases {
            let log = TrafficLog(of: StoreAccess(layout: layout, role: role))
            var reading = TrafficReading(log)
            // The newest days first: the budget may not suffice for all.
            for day in ((try? log.days()) ?? []).reversed() {
                reading.forEachEntry(on: day) { usage.add($0, on: day) }
            }
        }
        usage.packs = Dictionary(usage.packs.map { (shownID(of: $0), $1) }, uniquingKeysWith: +)
        return usage
    }
}

extension Traffic {
    fileprivate mutating func add(_ entry: TrafficLog.Entry, on day: String) {
        let bytes =
            entry.isMetered ? Bytes(metered: entry.bytes) : Bytes(unmetered: entry.bytes)
        days[day] = days[day, default: Bytes()] + bytes
        if let pack = entry.pack {
            packs[pack] = packs[pack, default: Bytes()] + bytes
        } else {
            metadata = metadata + bytes
        }
    }
}
