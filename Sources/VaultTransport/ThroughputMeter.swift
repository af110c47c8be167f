import Synchronization

/// Measures how fast a host sends, over all responses of one transfer: short or late responses count as slow too. An idle timeout alone
/// allows one byte now and then.
///
/// Only the time spent waiting for bytes counts, not what the reader does with them.
public final class ThroughputMeter: Sendable {
    private struct State {
        /// What is left of the grace time; nil before the first bytes.
        var grace: Duration?
        var waited: Duration = .zero
        var bytes = 0
        var slowWindows = 0
        /// Not counted in `waited` yet.
        var pause: Duration = .zero
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of windows that were too slow, less one for each that was fast enough.
    public var slowWindows: Int { state.withLock(\.slowWindows) }

    /// Counts a pause that the host asked for: a host that is busy before every few bytes is a slow one.
    public func count(pause: Duration) { state.withLock { $0.pause += pause } }

    /// Counts bytes and the time spent waiting for them. False when a whole window was too slow.
    package func record(_ count: Int, after wait: Duration, limits: TransportLimits) -> Bool {
        state.withLock { state in
            let wait = wait + state.pause
            state.pause = .zero
            let grace = state.grace ?? limits.grace
            guard grace <= .zero else {
                state.grace = grace - wait
                return true
            }
            state.waited += wait
            state.bytes += count
            guard state.waited >= limits.window else { return true }
            let isEnough = Double(state.bytes) >= state.waited / .seconds(1) * Double(limits.bytesPerSecond)
            state.slowWindows = isEnough ? max(0, state.slowWindows - 1) : state.slowWindows + 1
            (state.waited, state.bytes) = (.zero, 0)
            return isEnough
        }
    }
}
