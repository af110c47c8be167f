public import VaultBase
public import VaultTransport

/// Reads any site with the transport for its URL scheme.
public struct SchemeTransport: Transport {
    let http: HTTPTransport
    private let file = FileTransport()

    /// The parameters apply to http and https; see ``HTTPTransport``.
    public init(
        limits: TransportLimits = TransportLimits(), allowedHosts: AllowedHosts? = nil,
        proxy: HTTPProxy? = nil, certificateAuthorities: CertificateAuthorities? = nil
    ) {
        http = HTTPTransport(
            limits: limits, allowedHosts: allowedHosts, proxy: proxy,
            certificateAuthorities: certificateAuthorities)
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        switch request.location.address {
        case .http: try await http.get(request)
        case .file: try await file.get(request)
        }
    }

    /// Closes all connections; see ``HTTPTransport/shutdown()``.
    public func shutdown() async { await http.shutdown() }
}
