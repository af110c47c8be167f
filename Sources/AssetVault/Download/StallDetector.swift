import Synchronization
import VaultErrors

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

    /// Whether the previous call was longer ago than the limit.
    func hasStalled() -> Bool {
        last.withLock { last in
            defer { last = .now }
            return ContinuousClock.now - last > StallDetector.limit
        }
    }
}
