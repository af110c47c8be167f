import Synchronization

/// Measures how fast a host sends, over all responses of one transfer: short or late responses count as slow too.
public final class ThroughputMeter: Sendable {
    private struct State {
        var minimum: MinimumThroughput?
        /// Not counted in `minimum` yet.
        var pause: Duration = .zero
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of windows that were too slow, less one for each that was fast enough.
    public var slowWindows: Int { state.withLock { $0.minimum?.slowWindows ?? 0 } }

    /// Counts a pause that the host asked for: a host that is busy before every few bytes is a slow one.
    public func count(pause: Duration) { state.withLock { $0.pause += pause } }

    /// Counts bytes and the time spent waiting for them. False when a whole window was too slow.
    func record(_ count: Int, after wait: Duration, limits: TransportLimits) -> Bool {
        state.withLock { state in
            var minimum = state.minimum ?? MinimumThroughput(limits)
            let isFastEnough = minimum.record(count, after: wait + state.pause)
            state = State(minimum: minimum)
            return isFastEnough
        }
    }
}

/// Checks the average rate, since an idle timeout alone allows one byte now and then.
///
/// Only the time spent waiting for bytes counts, not what the reader does with them.
struct MinimumThroughput {
    private let limits: TransportLimits
    private var graceLeft: Duration
    private var waited: Duration = .zero
    private var bytes = 0
    private(set) var slowWindows = 0

    init(_ limits: TransportLimits) {
        self.limits = limits
        graceLeft = limits.grace
    }

    /// Counts bytes and the time spent waiting for them. False when a whole window was too slow.
    mutating func record(_ count: Int, after wait: Duration) -> Bool {
        guard graceLeft <= .zero else {
            graceLeft -= wait
            return true
        }
        waited += wait
        bytes += count
        guard waited >= limits.window else { return true }
        let seconds = Double(waited.components.seconds) + Double(waited.components.attoseconds) * 1e-18
        defer { (waited, bytes) = (.zero, 0) }
        let isEnough = Double(bytes) >= seconds * Double(limits.bytesPerSecond)
        slowWindows = isEnough ? max(0, slowWindows - 1) : slowWindows + 1
        return isEnough
    }
}
