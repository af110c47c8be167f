import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
public import SystemPackage
public import VaultErrors

/// Reads a site over HTTP/1.1, as plain static files.
public final class HTTPTransport: Transport {
    private let client: HTTPClient
    let limits: TransportLimits

    /// - Parameter certificateAuthorities: A PEM file of the only authorities to believe, for a host with a
    ///   private one; nil believes the system's.
    public init(limits: TransportLimits = TransportLimits(), certificateAuthorities: FilePath? = nil) {
        var configuration = HTTPClient.Configuration(
            // Redirects are followed here: the client would go from https to http.
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.idle)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.connectionsPerHost
        // A refused connection is told at once; callers try again by their own policy.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let certificateAuthorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(certificateAuthorities.string)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.limits = limits
    }

    /// Closes all connections, which ends every transfer; without it they are closed some time after the
    /// transport and the last body that came through it have gone.
    public func shutdown() async {
        try? await client.shutdown()
    }

    deinit {
        // The client insists on being shut down; a second time does nothing.
        Task { [client] in try? await client.shutdown() }
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard case .http(var url) = request.location.address else {
            throw VaultError(
                .usage, "not an http or https URL", at: request.location.description,
                remedy: "read folders with a file transport")
        }
        var followed = 0
        while true {
            let response = try await execute(request, at: url)
            guard let target = try Redirect.target(of: response, from: url, for: request) else {
                return try HTTPAnswer(response, to: request, through: self).response()
            }
            followed += 1
            guard followed <= limits.redirects else {
                throw VaultError(
                    .unavailable, "redirected more than \(limits.redirects) times",
                    at: request.location.description, remedy: "use the URL that the host wants in the end")
            }
            url = target
        }
    }

    private func execute(_ request: TransportRequest, at url: HTTPURL) async throws(VaultError)
        -> HTTPClientResponse
    {
        var outgoing = HTTPClientRequest(url: url.text)
        outgoing.headers.add(name: "Accept-Encoding", value: "identity")
        outgoing.headers.add(name: "User-Agent", value: "AssetVault/1")
        if let range = request.range {
            outgoing.headers.add(name: "Range", value: range.headerValue)
            if let tag = request.ifRange { outgoing.headers.add(name: "If-Range", value: tag.text) }
        }
        do {
            return try await client.execute(outgoing, deadline: .now() + TimeAmount(limits.response))
        } catch {
            throw VaultError(transport: error, at: request.location.description)
        }
    }
}
