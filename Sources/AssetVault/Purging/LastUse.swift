import SealedPack
import Synchronization
import UpdateFramework
import VaultFileSystem

/// When a pack was read last: the time of its link `current`, which an update keeps, and 1970 for a pack that was never read.
/// Set when a lease is acquired and when a file is read, at most every 10 seconds, and when the access of a request ends. A hint: where
/// the time can't be set, it is that of the last update.
struct LastUse {
    private let seconds: Int64

    init(in home: borrowing Folder) {
        seconds = ((try? home.status(of: "current")) ?? nil).map { $0.modified / 1_000_000_000 } ?? 0
    }

    /// For a link that was just made.
    func note(in home: borrowing Folder) { home.setModified("current", to: seconds) }

    /// The pack is used now.
    static func noteNow(_ id: PackID, in layout: StoreLayout) {
        guard let home = try? Folder(opening: layout.home(of: id)) else { return }
        home.setModified("current", to: nil)
    }

    /// Nil for a pack that was never read.
    var time: UTCTime? { seconds == 0 ? nil : UTCTime(secondsSince1970: seconds) }
}

/// Records the last use of each pack, at most every 10 seconds.
final class LastUseRecorder: Sendable {
    private static let interval = Duration.seconds(10)

    private let last = Mutex<[PackID: ContinuousClock.Instant]>([:])

    func note(_ id: PackID, in layout: StoreLayout) {
        let isDue = last.withLock { last in
            if let noted = last[id], ContinuousClock.now - noted < Self.interval { return false }
            last[id] = .now
            return true
        }
        if isDue { LastUse.noteNow(id, in: layout) }
    }
}
