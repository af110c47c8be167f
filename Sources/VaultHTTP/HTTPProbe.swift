import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
public import VaultBase
public import VaultTransport

extension HTTPTransport: HostProbe {
    public func ask(
        _ location: SiteLocation, headers: [String: String], bodyUpTo limit: Int
    ) async throws(VaultError) -> HostAnswer {
        let url = try Self.url(of: location)
        try requireAllowed(url, at: location)
        let start = ContinuousClock.now
        let response = try await send(HTTPHeaders(Array(headers)), to: url, for: location)
        var chunks = HTTPBodyChunks(
            response.body, through: self, meter: ThroughputMeter(), after: .now - start,
            place: location.description)
        var body: [UInt8] = []
        while body.count < limit, let chunk = try await chunks.next() { body += chunk }
        let target = try? Redirect.target(of: response, from: url, at: location)
        return HostAnswer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
            body: Array(body.prefix(limit)), redirect: target.flatMap { try? SiteLocation($0.text) })
    }

    public func connection(to location: SiteLocation) async throws(VaultError) -> HostConnection {
        let url = try Self.url(of: location)
        try requireAllowed(url, at: location)
        guard url.isSecure else { return HostConnection() }
        let client = clients.observer { connection in throw Observed(connection: connection) }
        defer { Task { try? await client.shutdown() } }
        do {
            _ = try await client.execute(
                HTTPClientRequest(url: url.text), deadline: .now() + TimeAmount(limits.response))
            return HostConnection()
        } catch let error as Observed {
            return error.connection
        } catch {
            throw VaultError(
                transport: error, at: location.description, reaching: proxy?.place ?? url.authority)
        }
    }

    private static func url(of location: SiteLocation) throws(VaultError) -> HTTPURL {
        if case .http(let url) = location.address { return url }
        throw VaultError(
            .usage, "a folder is no host", at: location.description, remedy: "name an http or https URL")
    }

    /// Ends a connection before a request is sent.
    private struct Observed: Error {
        let connection: HostConnection
    }
}

extension HTTPClients {
    /// A client of its own that also offers HTTP/2, and passes each connection to `observe` once it is made.
    fileprivate func observer(
        _ observe: @escaping @Sendable (HostConnection) throws -> Void
    ) -> HTTPClient {
        var configuration = configuration
        configuration.httpVersion = .automatic
        func initializer(isHTTP2: Bool) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
            { channel in
                channel.nioSSL_tlsVersion().and(channel.nioSSL_peerCertificate()).flatMapThrowing {
                    (version, certificate) in
                    var connection = HostConnection()
                    connection.tls = version.map { "TLS \($0.name)" }
                    connection.certificateEnd = certificate.map { Int64($0.notValidAfter) }
                    connection.speaksHTTP2 = isHTTP2
                    try observe(connection)
                }
            }
        }
        configuration.http1_1ConnectionDebugInitializer = initializer(isHTTP2: false)
        configuration.http2ConnectionDebugInitializer = initializer(isHTTP2: true)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}

extension TLSVersion {
    fileprivate var name: String {
        switch self {
        case .tlsv1: "1.0"
        case .tlsv11: "1.1"
        case .tlsv12: "1.2"
        case .tlsv13: "1.3"
        }
    }
}

extension SchemeTransport: HostProbe {
    public func ask(
        _ location: SiteLocation, headers: [String: String], bodyUpTo limit: Int
    ) async throws(VaultError) -> HostAnswer {
        try await http.ask(location, headers: headers, bodyUpTo: limit)
    }

    public func connection(to location: SiteLocation) async throws(VaultError) -> HostConnection {
        try await http.connection(to: location)
    }
}
