import SealedPack
import Synchronization
import VaultErrors

/// Reports how much of a download is there; the same count only once.
final class DownloadProgress: Sendable {
    private let pack: PackManifest
    private let observer: Observer
    private let reported = Mutex<UInt64?>(nil)

    init(of pack: PackManifest, _ observer: @escaping Observer) {
        self.pack = pack
        self.observer = observer
    }

    /// What was reported last.
    var count: UInt64? { reported.withLock { $0 } }

    func report(_ count: UInt64) {
        let before = reported.withLock { reported in
            defer { reported = count }
            return reported
        }
        guard before != count else { return }
        // A damaged piece was dropped.
        let written = before.map { count - min($0, count) } ?? 0
        observer(.progress(pack.id, written: written, bytes: count, total: pack.length))
    }
}

/// Whether the owner of a download is stalled: stopped by a signal, or at a host that sends nothing. Each piece that it
/// writes, verifies or opens changes the file's time, which is all that other processes see of it.
struct StallDetector {
    /// Time without progress after which another process that needs the pack continues the download.
    static let limit = Duration.seconds(5)

    private var last: Int64?
    private var since = ContinuousClock.now

    /// Checks again; true when nothing has changed for the limit.
    mutating func isStalled(_ file: DownloadFile) throws(VaultError) -> Bool {
        let change = try file.lastChange()
        guard change == last else {
            (last, since) = (change, .now)
            return false
        }
        return ContinuousClock.now - since > Self.limit
    }
}

/// Tells an owner that it was stalled, so that another process may have continued.
final class StallClock: Sendable {
    private let last = Mutex(ContinuousClock.now)

    /// Progress that other processes see, too: bytes that fill no piece are none.
    func noteProgress() { last.withLock { $0 = .now } }

    /// Whether it was made longer ago than half of the limit: this process may note it later than others see it.
    var mayHaveStalled: Bool { ContinuousClock.now - last.withLock { $0 } > StallDetector.limit / 2 }
}
