import SealedPack
import Synchronization
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// What a role received over the network: one file a day, to which each process appends a line for some bytes of one pack. After a
/// power failure the last lines may be missing.
struct TrafficLog: Sendable {
    private let folder: FilePath
    private let store: StoreAccess

    /// Number of days that are kept.
    static let keptDays = 92
    /// Bytes of a day that are read in permanent storage; see ``StoreArea/FileKind/traffic``.
    private static let ownLimit = 16 << 20
    /// Number of names in the folder of days that are looked at when old days are removed.
    private static let nameLimit = 4096
    /// Bytes of all days that are read of a downloader's log: a day has a few kilobytes.
    static let sharedBudget = StoreArea.Budget(bytes: 8 << 20)

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

    /// Others may write in shared storage: no link is followed, and only a regular file is opened.
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
        try store.layout.openFolder(folder, in: store.layout.area(of: store.role))
    }

    /// Days are named by their dates, which sort as they follow each other.
    private func removeOldDays(in folder: borrowing Folder) throws(VaultError) {
        for name in try Self.days(in: folder).sorted().dropLast(Self.keptDays - 1) {
            try folder.unlink(name)
        }
    }

    /// Other names are nobody's days.
    private static func days(in folder: borrowing Folder) throws(VaultError) -> [String] {
        try folder.names(upTo: nameLimit).names.map { String(decoding: $0, as: UTF8.self) }
            .filter { UTCTime("\($0)T00:00:00Z") != nil }
    }

    /// The days that count, in order: no others may be in the place of the real ones.
    func days(until now: UTCTime = .now) throws(VaultError) -> [String] {
        guard let folder = try openFolder() else { return [] }
        var found: [String] = []
        for age in (-1...Self.keptDays).reversed() {
            let day = String(now.adding(days: -age).description.prefix(10))
            if try folder.status(of: day) != nil { found.append(day) }
        }
        return found
    }

    /// Passes the entries of a day to `body`. Lines that a killed process left incomplete are skipped, and days that are too long,
    /// or for which the budget does not suffice.
    func forEachEntry(on day: String, within budget: inout StoreArea.Budget, _ body: (Entry) -> Void) {
        let limit = store.role == .app ? Self.ownLimit : StoreArea.FileKind.traffic.limit
        guard let folder = try? openFolder(), (try? folder.status(of: day))??.hardLinks == 1,
            let bytes = try? folder.openFile(day).readAll(limit: limit), budget.take(bytes.count)
        else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            if let entry = Self.entry(line) { body(entry) }
        }
    }

    /// The entries of one day.
    func entries(on day: String) -> [Entry] {
        var budget = StoreArea.Budget()
        var found: [Entry] = []
        forEachEntry(on: day, within: &budget) { found.append($0) }
        return found
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let bytes = UInt64(words[0]), ["metered", "unmetered"].contains(words[1])
        else {
            return nil
        }
        let pack = words[2] == "-" ? nil : try? PackID(String(words[2]))
        guard words[2] == "-" || pack != nil else { return nil }
        return Entry(bytes: bytes, isMetered: words[1] == "metered", pack: pack)
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
            // The metadata's way to a site is kept longer than a command runs.
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
