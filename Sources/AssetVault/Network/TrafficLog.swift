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

    /// The first bytes of a day, up to a limit; nil where there is no such day. Others may have put anything in its place.
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
