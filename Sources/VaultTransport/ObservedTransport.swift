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
