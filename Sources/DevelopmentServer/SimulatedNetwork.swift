import NIOCore
import Synchronization

/// The state of a network under ``NetworkConditions``, for all connections of a server.
final class SimulatedNetwork: Sendable {
    private struct State {
        /// SplitMix64.
        var random: UInt64
        /// When what was sent so far is through.
        var idleFrom = ContinuousClock.now
    }

    let conditions: NetworkConditions
    let onFault: @Sendable (_ fault: String) -> Void
    private let state: Mutex<State>

    init(
        _ conditions: NetworkConditions, onFault: @escaping @Sendable (_ fault: String) -> Void = { _ in }
    ) {
        self.conditions = conditions
        self.onFault = onFault
        state = Mutex(State(random: conditions.seed))
    }

    /// Whether the next request fails.
    func failsNext() -> Bool {
        guard conditions.errorRate > 0 else { return false }
        return state.withLock { state in
            state.random &+= 0x9E37_79B9_7F4A_7C15
            var word = state.random
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            word ^= word >> 31
            return Double(word >> 11) / Double(1 << 53) < conditions.errorRate
        }
    }

    /// Bytes that are sent at a time: a twentieth of a second's.
    var chunkLength: UInt64 {
        conditions.bytesPerSecond.map { min(max($0 / 20, 1), 1 << 18) } ?? 1 << 18
    }

    /// Reserves the simulated connection for some bytes, after those already queued. Returns the time until they are sent.
    func delay(ofSending count: Int) -> TimeAmount {
        guard let rate = conditions.bytesPerSecond, rate > 0 else { return .zero }
        return state.withLock { state in
            let now = ContinuousClock.now
            state.idleFrom = max(now, state.idleFrom) + .seconds(Double(count) / Double(rate))
            return TimeAmount(state.idleFrom - now)
        }
    }

    /// The bytes of a body that are sent before the connection ends; nil for all.
    func sentLength(of length: UInt64) -> UInt64? {
        conditions.failAfter.flatMap { $0 < length ? $0 : nil }
    }
}

/// A bad network or host for testing an app. Random failures are determined by the seed.
public struct NetworkConditions: Sendable {
    /// Of all connections together; nil for no limit.
    public var bytesPerSecond: UInt64?
    /// Before each response.
    public var latency = Duration.zero
    /// Bytes of a body after which the connection ends; nil for never.
    public var failAfter: UInt64?
    /// Bytes that are missing at the end of each pack's file.
    public var truncation: UInt64 = 0
    /// Whether the site's timestamp stays as it is at the start, as if an old copy were served.
    public var isStale = false
    /// The time after which all connections end and none begins; nil for never.
    public var offlineAfter: Duration?
    /// The part of requests that fail with status 503, from 0 to 1.
    public var errorRate = 0.0
    public var seed: UInt64 = 1

    public init() {}
}
