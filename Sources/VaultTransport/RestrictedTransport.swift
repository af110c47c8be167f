public import VaultBase

/// A transport that contacts only the allowed hosts, by redirects too.
public struct RestrictedTransport: Transport {
    private let base: any Transport
    private let hosts: AllowedHosts

    public init(_ base: any Transport, to hosts: AllowedHosts) {
        self.base = base
        self.hosts = hosts
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard hosts.allows(request.location) else {
            throw VaultError(
                .untrusted, "the host is not allowed", at: request.location.description,
                remedy: "allow that host too, or use a site that needs no other")
        }
        var request = request
        request.allowedHosts = hosts
        return try await base.get(request)
    }
}
