import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
public import VaultBase
public import VaultTransport

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// Reads a site over HTTP/1.1, as static files.
public final class HTTPTransport: Transport {
    let clients: HTTPClients
    let limits: TransportLimits
    private let allowedHosts: AllowedHosts?
    let proxy: HTTPProxy?

    /// - Parameters:
    ///   - allowedHosts: The only hosts that may be contacted; nil allows all.
    ///   - proxy: The proxy for all connections; nil connects to the hosts directly.
    ///   - certificateAuthorities: The only authorities to trust; nil trusts the system's.
    public init(
        limits: TransportLimits = TransportLimits(), allowedHosts: AllowedHosts? = nil,
        proxy: HTTPProxy? = nil, certificateAuthorities: CertificateAuthorities? = nil
    ) {
        var configuration = HTTPClient.Configuration(
            // Redirects are followed here, because the client would follow one from https to http.
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.idle)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.connectionsPerHost
        // A refused connection fails at once; callers retry by their own policy.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = proxy?.configuration
        var tls = TLSConfiguration.makeClientConfiguration()
        // Older versions are insecure (RFC 8996).
        tls.minimumTLSVersion = .tlsv12
        if let certificateAuthorities {
            tls.trustRoots = .certificates(certificateAuthorities.certificates)
        }
        configuration.tlsConfiguration = tls
        clients = HTTPClients(configuration)
        self.limits = limits
        self.allowedHosts = allowedHosts
        self.proxy = proxy
    }

    /// Closes all connections, which ends every transfer. Otherwise they close some time after the transport and its
    /// last body were released.
    public func shutdown() async {
        await clients.shutdown()
    }

    deinit {
        // A client must be shut down; doing so twice is harmless.
        Task { [clients] in await clients.shutdown() }
    }

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard case .http(var url) = request.location.address else {
            throw VaultError(
                .usage, "not an http or https URL", at: request.location.description,
                remedy: "read folders with a file transport")
        }
        var followed = 0
        // The time of redirects counts as well: a host could delay each of them.
        let start = ContinuousClock.now
        while true {
            try requireAllowed(url, request.allowedHosts, at: request.location)
            let response = try await execute(request, at: url)
            if ![200, 206].contains(response.status.code) {
                try request.willDiscard(Self.unreadBytes(of: response))
            }
            guard let target = try Redirect.target(of: response, from: url, at: request.location) else {
                return try HTTPResponseHead(response, to: request, through: self, after: .now - start)
                    .response()
            }
            followed += 1
            guard followed <= limits.redirects else {
                throw VaultError(
                    .unavailable, "redirected more than \(limits.redirects) times",
                    at: request.location.description, remedy: "use the URL that the redirects lead to")
            }
            url = target
        }
    }

    /// The size of a discarded body: the connection is closed, but the system may have received a part of it by then.
    private static func unreadBytes(of response: HTTPClientResponse) -> UInt64 {
        let declared = response.headers.first(name: "Content-Length").flatMap { UInt64($0) }
        return min(declared ?? lengthOfUndeclaredBodies, systemBufferLength)
    }

    /// Bytes that the system accepts for a connection before anybody reads them: as many as Linux gives it at first.
    private static let systemBufferLength: UInt64 = 128 << 10
    /// Of chunked bodies, whose length is not known before; those of redirects are short.
    private static let lengthOfUndeclaredBodies: UInt64 = 16 << 10

    /// - Parameter others: hosts that a request allows; nil for all.
    func requireAllowed(
        _ url: HTTPURL, _ others: AllowedHosts? = nil, at location: SiteLocation
    ) throws(VaultError) {
        guard [allowedHosts, others].contains(where: { $0?.allows(url.host) == false }) else { return }
        throw VaultError(
            .untrusted, "it needs the host '\(url.host)', which is not allowed",
            at: location.description,
            remedy: "allow that host too, or use a site that needs no other")
    }

    private func execute(_ request: TransportRequest, at url: HTTPURL) async throws(VaultError)
        -> HTTPClientResponse
    {
        var headers = HTTPHeaders()
        if let range = request.range { headers.add(name: "Range", value: range.headerValue) }
        return try await send(headers, to: url, for: request.location)
    }

    /// One GET request; redirects are not followed.
    func send(
        _ headers: HTTPHeaders, to url: HTTPURL, for location: SiteLocation
    ) async throws(VaultError) -> HTTPClientResponse {
        var outgoing = HTTPClientRequest(url: url.text)
        outgoing.headers = ["Accept-Encoding": "identity", "User-Agent": "AssetVault/1"]
        for (name, value) in headers { outgoing.headers.replaceOrAdd(name: name, value: value) }
        let client = try clients.client(for: url)
        do {
            return try await client.execute(outgoing, deadline: .now() + TimeAmount(limits.response))
        } catch {
            throw VaultError(
                transport: error, at: location.description, reaching: proxy?.place ?? url.authority)
        }
    }
}

/// The target of a redirect (RFC 9110, section 15.4).
enum Redirect {
    /// Nil when the response is not a redirect.
    ///
    /// - Throws: `.unavailable` for a redirect without a usable target or from https to http.
    static func target(
        of response: HTTPClientResponse, from url: HTTPURL, at place: SiteLocation
    ) throws(VaultError) -> HTTPURL? {
        guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
        guard let location = response.headers.first(name: "Location"),
            let target = resolve(location, from: url)
        else {
            throw VaultError(
                .unavailable, "redirected, but not to an http or https URL", at: place.description,
                remedy: "check the URL and the host")
        }
        guard target.isSecure || !url.isSecure else {
            throw VaultError(
                .unavailable, "redirected from https to http, which is not followed",
                at: place.description, remedy: "configure the host to redirect to https only")
        }
        return target
    }

    /// The target of a `Location` header, which may be relative (RFC 3986, section 5).
    static func resolve(_ location: String, from url: HTTPURL) -> HTTPURL? {
        guard let base = URL(string: url.text) else { return nil }
        return URL(string: location, relativeTo: base).flatMap { HTTPURL($0.absoluteString) }
    }
}
