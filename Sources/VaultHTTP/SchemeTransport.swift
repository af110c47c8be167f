public import VaultBase
public import VaultTransport

/// Reads any site with the transport for its URL scheme.
public struct SchemeTransport: Transport {
    let http: HTTPTransport
    private let file = FileTransport()

    /// - Parameter http: for http and https.
    public init(_ http: HTTPTransport = HTTPTransport()) { self.http = http }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        switch request.location.address {
        case .http: try await http.get(request)
        case .file: try await file.get(request)
        }
    }

    /// Closes all connections; see ``HTTPTransport/shutdown()``.
    public func shutdown() async { await http.shutdown() }
}
