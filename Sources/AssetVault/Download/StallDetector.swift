import Synchronization
import VaultErrors

/// Whether somebody who has a download stands still: stopped by a signal, or at a host that sends nothing. Every piece that is
/// written, looked at or opened changes the file's time, which is all that others see of its owner.
struct StallDetector {
    /// Nothing for so long, and another process that needs the pack goes on with it.
    static let limit = Duration.seconds(5)

    private var last: Int64?
    private var since = ContinuousClock.now

    /// Looks once more; true when nothing changed for long.
    mutating func isReached(by file: DownloadFile) throws(VaultError) -> Bool {
        let change = try file.lastChange()
        guard change == last else {
            (last, since) = (change, .now)
            return false
        }
        return ContinuousClock.now - since > Self.limit
    }
}

/// The other side of it: an owner finds out that it stood still, so that somebody may have gone on in its place.
final class StallClock: Sendable {
    private let last = Mutex(ContinuousClock.now)

    /// Whether the beat before this one was long ago.
    func hasStalled() -> Bool {
        last.withLock { last in
            defer { last = .now }
            return ContinuousClock.now - last > StallDetector.limit
        }
    }
}
