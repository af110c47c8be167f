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
    private static let limit = 64 << 20

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
        guard let permissions = try? store.layout.permissions(of: store.role) else { return }
        try? FileSystem.createFolders(folder, permissions: permissions.folders)
        let path = folder.appending(day)
        if (try? FileSystem.status(of: path)) == .some(nil) { removeOldDays() }
        try? AppendedFile.append(Array(line.utf8), to: path, permissions: permissions.files)
    }

    /// Days are named by their dates, which sort as they follow each other.
    private func removeOldDays() {
        guard let names = try? days(), names.count >= Self.keptDays else { return }
        for name in names.sorted().dropLast(Self.keptDays - 1) {
            try? FileSystem.removeFile(folder.appending(name))
        }
    }

    func days() throws(VaultError) -> [String] {
        guard try FileSystem.exists(folder) else { return [] }
        return try Folder(opening: folder).names().map { String(decoding: $0, as: UTF8.self) }
            .filter { UTCTime("\($0)T00:00:00Z") != nil }
    }

    /// Lines that a killed process left incomplete are skipped.
    func entries(on day: String) -> [Entry] {
        guard let bytes = try? DurableFile.read(folder.appending(day), limit: Self.limit) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap(Self.entry)
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
