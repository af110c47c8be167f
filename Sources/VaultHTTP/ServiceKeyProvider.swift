import AsyncHTTPClient
import NIOHTTP1
public import VaultBase
public import VaultCrypto
public import VaultTransport

/// A service that gives keys to who is entitled to them: `GET URL/KEY-ID` with a bearer token (RFC 6750) answers with a JWK or JWK Set
/// that has the key, or a JWE of one, and `GET URL` with all keys of the token, for sealing.
///
/// What the service says is typed: it does not accept the token (401, ``VaultBase/Finding/Code/keyTokenRefused``), the token gives no
/// right to the key (403, ``VaultBase/Finding/Code/keyNotGranted``), or it does not know the key (404), as a provider without that key.
/// A busy service (429, 503) or one that fails is asked again, for a minute at most. Redirects are refused, as the token must not travel.
/// The keys are written to no file, and neither they nor the token are in any message.
public struct ServiceKeyProvider: KeyProvider {
    /// Called before each request, so that an app can renew its token.
    public typealias Token = @Sendable () async throws(VaultError) -> SecretBytes

    private let location: SiteLocation
    private let token: Token?
    private let passphrase: PassphraseSource?
    private let transport: HTTPTransport
    private let retries: RetryPolicy
    private let answers = KeyAnswers()

    /// The longest time in which a service is asked again.
    private static let longestWait = Duration.seconds(60)

    /// - Parameters:
    ///   - url: `https://HOST/PATH`; http only for this machine.
    ///   - token: the bearer token; nil sends none.
    ///   - passphrase: of keys that the service sends encrypted (a JWE); nil refuses these.
    ///   - certificateAuthorities: the only authorities to trust; nil trusts the system's.
    /// - Throws: `usage` for another URL, which is not repeated.
    public init(
        url: String, token: Token?, passphrase: PassphraseSource? = nil,
        certificateAuthorities: CertificateAuthorities? = nil, limits: TransportLimits = TransportLimits(),
        retries: RetryPolicy = RetryPolicy()
    ) throws(VaultError) {
        guard let location = try? SiteLocation(url), case .http = location.address,
            location.isSecure || location.isLoopback
        else {
            throw VaultError(
                .usage, "not the URL of a key service", at: "key service",
                remedy: "give https://HOST/PATH without a query; http only for this machine")
        }
        (self.location, self.token, self.passphrase, self.retries) = (location, token, passphrase, retries)
        transport = HTTPTransport(limits: limits, certificateAuthorities: certificateAuthorities)
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await answers.keys(for: id) { () throws(VaultError) in
            let place = try location.appending(id.description)
            guard let ring = try await ring(at: place, of: "the key '\(id)'") else { return KeyRing() }
            guard ring.ids.contains(id) else {
                throw VaultError(
                    .key, "the answer does not have the key '\(id)'", at: place.description,
                    remedy: "let the service answer with the key of that ID, or with 404")
            }
            return ring
        }
    }

    public func allKeys() async throws(VaultError) -> KeyRing {
        if let ring = try await ring(at: location, of: "a list of its keys") { return ring }
        throw VaultError(
            .key, "the service does not list its keys", at: location.description,
            remedy: "seal with a service that answers the URL itself with a JWK Set, or with a key file")
    }

    /// Nil when there is no such thing.
    private func ring(at place: SiteLocation, of name: String) async throws(VaultError) -> KeyRing? {
        let end = ContinuousClock.now + Self.longestWait
        var failures = 0
        while true {
            do throws(TransferFailure) {
                guard let text = try await answer(at: place, of: name) else { return nil }
                do throws(VaultError) {
                    return try KeyRing(
                        parsingJWK: text, place: place.description, passphrase: passphrase)
                } catch { throw TransferFailure(error) }
            } catch {
                failures += 1
                // Without a connection the caller gets its error at once.
                guard error.error.category != .unreachable, end > .now else { throw error.error }
                var policy = retries
                policy.longestRequestedWait = min(policy.longestRequestedWait, end - .now)
                try await policy.wait(after: error, failures: failures, at: place)
            }
        }
    }

    private func answer(
        at place: SiteLocation, of name: String
    ) async throws(TransferFailure) -> SecretBytes? {
        let start = ContinuousClock.now
        let response: HTTPClientResponse
        do throws(VaultError) {
            guard case .http(let url) = place.address else { return nil }
            response = try await transport.send(headers(), to: url, for: place)
        } catch { throw TransferFailure(error) }
        func failure(
            _ category: VaultError.Category, _ problem: String, remedy: String, code: Finding.Code? = nil
        ) -> TransferFailure {
            TransferFailure(
                VaultError(category, problem, at: place.description, remedy: remedy, code: code),
                isLasting: response.status.code < 500)
        }
        switch response.status.code {
        case 200:
            do throws(VaultError) {
                return try await SecretBytes(
                    HTTPBodyChunks(
                        response.body, through: transport, meter: ThroughputMeter(), after: .now - start,
                        place: place.description), at: place.description)
            } catch { throw TransferFailure(error) }
        case 401:
            throw failure(
                .key, "the service does not accept the token",
                remedy: token == nil ? "give a token" : "give a token that is valid", code: .keyTokenRefused)
        case 403:
            throw failure(
                .key, "the service does not give \(name) to the holder of this token",
                remedy: "get the right to it first", code: .keyNotGranted)
        case 404, 410: return nil
        case 429, 503:
            let wait = response.requestedWait
            throw TransferFailure(
                .busyHost(place, status: Int(response.status.code), retryAfter: wait), retryAfter: wait)
        case 300..<400:
            throw failure(
                .unavailable, "the service redirects, which is not followed with a token",
                remedy: "give the URL that it redirects to")
        case 500..<600:
            throw failure(
                .unavailable, "the service is failing (status \(response.status.code))",
                remedy: "try again later")
        case let status:
            throw failure(
                .unavailable, "unexpected status \(status)", remedy: "check the URL and the service")
        }
    }

    private func headers() async throws(VaultError) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "Accept": "application/jwk+json, application/jwk-set+json, application/jose"
        ]
        guard let token else { return headers }
        let text = try await token()
        guard let value = text.withBytes(Self.bearer) else {
            throw VaultError(
                .key, "the token is not a bearer token (RFC 6750)", at: location.description,
                remedy: "use a token of A-Z, a-z, 0-9 and -._~+/=")
        }
        headers.add(name: "Authorization", value: value)
        return headers
    }

    /// Nil for a text that a header can't hold.
    private static func bearer(_ token: Span<UInt8>) -> String? {
        guard token.count > 0 else { return nil }
        var value = "Bearer "
        for index in token.indices {
            switch token[index] {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D...0x2F, 0x3D, 0x5F, 0x7E:  // + - . / = _ ~
                value.unicodeScalars.append(Unicode.Scalar(token[index]))
            default: return nil
            }
        }
        return value
    }
}

extension KeyProvider where Self == ServiceKeyProvider {
    /// A service that gives keys to who is entitled to them; see ``ServiceKeyProvider``.
    public static func service(
        _ url: String, passphrase: PassphraseSource? = nil,
        certificateAuthorities: CertificateAuthorities? = nil, token: ServiceKeyProvider.Token?
    ) throws(VaultError) -> Self {
        try ServiceKeyProvider(
            url: url, token: token, passphrase: passphrase, certificateAuthorities: certificateAuthorities)
    }
}

extension SecretBytes {
    /// A whole body. Throws `key` beyond ``VaultCrypto/KeyRing/byteLimit``.
    fileprivate init(_ body: HTTPBodyChunks, at place: String) async throws(VaultError) {
        var chunks = body
        var text = SecretBytes(copying: Span())
        // Chunks may be of single bytes, and each append copies the whole text.
        var pending: [UInt8] = []
        while let chunk = try await chunks.next() {
            guard text.count + pending.count + chunk.count <= KeyRing.byteLimit else {
                throw .tooLarge(place)
            }
            pending += chunk
            guard pending.count >= 1 << 14 else { continue }
            text = try text.appending(SecretBytes(copying: pending.span))
            pending.removeAll(keepingCapacity: true)
        }
        self = try text.appending(SecretBytes(copying: pending.span))
    }
}
