public import SystemPackage
public import VaultErrors

/// Reads any site, by the kind of its location.
public struct SchemeTransport: Transport {
    private let http: HTTPTransport
    private let file = FileTransport()

    /// - Parameter certificateAuthorities: As for ``HTTPTransport``.
    public init(limits: TransportLimits = TransportLimits(), certificateAuthorities: FilePath? = nil) {
        http = HTTPTransport(limits: limits, certificateAuthorities: certificateAuthorities)
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
