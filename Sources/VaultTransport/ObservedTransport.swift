import Synchronization
public import VaultBase

/// A transport whose user decides on each request to a host, and sees all that comes from one. Local files are not observed.
public struct ObservedTransport: Transport {
    private let base: any Transport
    private let willAsk: @Sendable (SiteLocation) throws(VaultError) -> Void
    private let willReceive: @Sendable (_ length: UInt64?, SiteLocation) throws(VaultError) -> Void
    private let didReceive: @Sendable (_ count: Int, SiteLocation) throws(VaultError) -> Void

    /// - Parameters:
    ///   - willAsk: called before each request; an error from it prevents the request.
    ///   - willReceive: called with the length of each body, if the host declared it, before any of it is read; an error from it ends
    ///     the transfer.
    ///   - didReceive: called with the bytes of each chunk, and of discarded bodies, such as those of redirects; an error from it
    ///     ends the transfer.
    public init(
        _ base: any Transport,
        willAsk: @escaping @Sendable (SiteLocation) throws(VaultError) -> Void,
        willReceive: @escaping @Sendable (_ length: UInt64?, SiteLocation) throws(VaultError) -> Void = {
            _, _ throws(VaultError) in
        },
        didReceive: @escaping @Sendable (_ count: Int, SiteLocation) throws(VaultError) -> Void
    ) {
        (self.base, self.willAsk) = (base, willAsk)
        (self.willReceive, self.didReceive) = (willReceive, didReceive)
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        let location = request.location
        guard location.path == nil else { return try await base.get(request) }
        try willAsk(location)
        let observe = { @Sendable [didReceive] count throws(VaultError) in try didReceive(count, location) }
        var request = request
        let willDiscard = request.willDiscard
        request.willDiscard = { count throws(VaultError) in
            try willDiscard(count)
            try observe(Int(clamping: count))
        }
        let response = try await base.get(request)
        switch response {
        case .whole(let body):
            try willReceive(body.length, location)
            return .whole(body.observed(by: observe))
        case .part(let range, let body):
            try willReceive(body.length, location)
            return .part(range, body.observed(by: observe))
        case .absent, .outOfRange, .busy: return response
        }
    }
}

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
    package func record(_ count: Int, after wait: Duration, limits: TransportLimits) -> Bool {
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
