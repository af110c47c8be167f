import FaultServer
import SystemPackage
import Testing
import VaultBase
import VaultCrypto
import VaultHTTP
import VaultTransport

/// A key service as a client sees it: what it is asked, and what each of its answers means.
@Suite struct KeyServiceTests {
    private static let token = "eyJhbGciOi.Zm9v-_~+/=="
    private static let secret = String(repeating: "Cw", count: 21) + "s"

    private static func jwk(_ id: String) -> String {
        #"{"kty":"oct","alg":"A256KW","kid":"\#(id)","k":"\#(secret)"}"#
    }

    private static func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:])
        -> [Step]
    {
        var reply = FaultServer.Reply(status: status, body: Array(body.utf8))
        reply.headers.merge(headers) { $1 }
        return [.send(reply.head)] + (body.isEmpty ? [] : [.send(body)]) + [.close]
    }

    private static func provider(
        _ url: String, token: String? = token, authorities: CertificateAuthorities? = nil
    ) throws -> ServiceKeyProvider {
        var retries = RetryPolicy()
        retries.firstBackoff = .milliseconds(1)
        var ask: ServiceKeyProvider.Token?
        if let token {
            let bytes = Array(token.utf8)
            ask = { SecretBytes(copying: bytes.span) }
        }
        return try ServiceKeyProvider(
            url: url, token: ask, certificateAuthorities: authorities, limits: .testing, retries: retries)
    }

    /// The error of a lookup of the key "one" where the service always answers like this; its text has no secret.
    private func refusal(_ steps: [Step], requests: Int = 1) async throws -> VaultError? {
        try await withFaultServer(always: steps) { server in
            let provider = try Self.provider(server.base + "/game")
            let error = await failure { _ = try await provider.keys(for: KeyID("one")) }
            #expect(server.requests.count == requests, "\(String(describing: error))")
            #expect(error.map { !"\($0)".contains(Self.token) && !"\($0)".contains(Self.secret) } == true)
            return error
        }
    }

    @Test func asksForTheKeyByItsIDWithTheToken() async throws {
        try await withFaultServer(always: Self.answer(200, Self.jwk("one"))) { server in
            let ring = try await Self.provider(server.base + "/game/").keys(for: KeyID("one"))
            #expect(ring.ids.map(\.description) == ["one"])
            let head = try #require(server.requests.first)
            #expect(head.hasPrefix("GET /game/one HTTP/1.1\r\n"))
            #expect(head.contains("Authorization: Bearer \(Self.token)\r\n"))
            #expect(head.contains("application/jwk+json, application/jwk-set+json, application/jose"))
        }
    }

    @Test func sendsNoHeaderWithoutAToken() async throws {
        try await withFaultServer(always: Self.answer(200, Self.jwk("one"))) { server in
            _ = try await Self.provider(server.base, token: nil).keys(for: KeyID("one"))
            #expect(server.requests.first?.contains("Authorization") == false)
        }
    }

    @Test func aSetSavesTheRequestsForItsOtherKeys() async throws {
        let set = #"{"keys":[\#(Self.jwk("one")),\#(Self.jwk("two"))]}"#
        try await withFaultServer(always: Self.answer(200, set)) { server in
            let provider = try Self.provider(server.base)
            for id in ["one", "two"] {
                #expect(try await provider.keys(for: KeyID(id)).ids.map(\.description) == [id])
            }
            #expect(server.requests.count == 1)
            // What is looked up again is asked for again: it may have been taken away.
            _ = try await provider.keys(for: KeyID("two"))
            #expect(server.requests.count == 2)
        }
    }

    @Test func listsAllKeysForAnAuthor() async throws {
        let set = #"{"keys":[\#(Self.jwk("one")),\#(Self.jwk("two"))]}"#
        try await withFaultServer(always: Self.answer(200, set)) { server in
            let ring = try await Self.provider(server.base + "/game").allKeys()
            #expect(ring.ids.map(\.description) == ["one", "two"])
            #expect(server.requests.first?.hasPrefix("GET /game HTTP/1.1") == true)
        }
        try await withFaultServer(always: Self.answer(404)) { server in
            let error = await failure { _ = try await Self.provider(server.base).allKeys() }
            #expect(error?.category == .key && error?.problem.contains("does not list its keys") == true)
        }
    }

    @Test func namesATokenThatIsNotAccepted() async throws {
        let error = try await refusal(Self.answer(401))
        #expect(error?.category == .key && error?.code == .keyTokenRefused && error?.isKeyRefusal == true)
        #expect(error?.problem == "the service does not accept the token")
    }

    @Test func namesAKeyThatIsNotGranted() async throws {
        let error = try await refusal(Self.answer(403))
        #expect(error?.category == .key && error?.code == .keyNotGranted && error?.isKeyRefusal == true)
        #expect(error?.problem.contains("'one'") == true)
    }

    @Test(arguments: [404, 410]) func hasNoKeyThatTheServiceDoesNotKnow(status: Int) async throws {
        try await withFaultServer(always: Self.answer(status)) { server in
            let ring = try await Self.provider(server.base).keys(for: KeyID("one"))
            #expect(ring.isEmpty)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [429, 503, 500, 502]) func asksABusyOrFailingServiceAgain(status: Int) async throws {
        let server = try FaultServer { request in
            request.earlier < 2
                ? Self.answer(status, "", ["Retry-After": "0"]) : Self.answer(200, Self.jwk("one"))
        }
        let ring = try await Self.provider(server.base).keys(for: KeyID("one"))
        #expect(!ring.isEmpty)
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [429, 503]) func doesNotWaitLongerThanAMinute(status: Int) async throws {
        let error = try await refusal(Self.answer(status, "", ["Retry-After": "61"]))
        #expect(error?.category == .unavailable && error?.problem == "the host is busy (status \(status))")
        #expect(error?.remedy.contains("61 seconds") == true)
    }

    @Test(arguments: [429, 500, 503]) func givesUpAfterSomeAttempts(status: Int) async throws {
        let error = try await refusal(Self.answer(status), requests: RetryPolicy().attempts)
        #expect(error?.category == .unavailable && error?.isKeyRefusal == false)
    }

    @Test func givesUpAtOnceWithoutAConnection() async throws {
        let server = try FaultServer { _ in [] }
        let provider = try Self.provider(server.base)
        try await server.stop()
        let error = await failure { _ = try await provider.keys(for: KeyID("one")) }
        #expect(error?.category == .unreachable)
    }

    /// The token must not travel to another host.
    @Test(arguments: [301, 302, 303, 307, 308]) func doesNotFollowARedirect(status: Int) async throws {
        try await withFaultServer(always: Self.answer(200, Self.jwk("one"))) { other in
            let error = try await refusal(Self.answer(status, "", ["Location": other.base + "/one"]))
            #expect(error?.category == .unavailable && error?.problem.contains("redirects") == true)
            #expect(other.requests.isEmpty)
        }
    }

    @Test(arguments: [204, 400, 418]) func refusesOtherStatuses(status: Int) async throws {
        #expect(try await refusal(Self.answer(status))?.category == .unavailable)
    }

    @Test(arguments: [
        jwk("two"), #"{"keys":[]}"#, "", "<html>", #"{"kty":"oct","alg":"A256KW","kid":"one","k":"Cws"}"#,
        #"{"keys":[\#(jwk("one")),\#(jwk("one"))]}"#,
        jwk("one") + String(repeating: " ", count: 1 << 20),
    ])
    func refusesAnAnswerWithoutTheKey(_ body: String) async throws {
        #expect(try await refusal(Self.answer(200, body))?.category == .key)
    }

    @Test func refusesAnEndlessAnswer() async throws {
        let error = try await refusal([
            .send("HTTP/1.1 200 OK\r\n\r\n"), .endlessly([UInt8](repeating: 0x20, count: 1 << 16)),
        ])
        #expect(error?.category == .key && error?.problem.contains("1 MiB") == true)
    }

    @Test(arguments: ["", "two words", "a\r\nHost: other", "ä", "{}"])
    func sendsNoTokenThatAHeaderCantHold(_ token: String) async throws {
        try await withFaultServer(always: Self.answer(200, Self.jwk("one"))) { server in
            let error = await failure {
                _ = try await Self.provider(server.base, token: token).keys(for: KeyID("one"))
            }
            #expect(error?.category == .key)
            #expect(error.map { token.isEmpty || token == "{}" || !"\($0)".contains(token) } == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: [
        "http://keys.example.org/game", "https://user:hunter2@keys.example.org",
        "https://keys.example.org/?a=hunter2",
        "https://", "ftp://keys.example.org", "file:///etc/hunter2", "keys/hunter2",
    ])
    func refusesWhatIsNoURLOfAService(_ url: String) async throws {
        let error = await failure { _ = try Self.provider(url) }
        #expect(error?.category == .usage)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func trustsOnlyTheGivenAuthority() async throws {
        let server = try FaultServer(secure: true) { _ in Self.answer(200, Self.jwk("one")) }
        let error = await failure { _ = try await Self.provider(server.base).keys(for: KeyID("one")) }
        #expect(error?.problem.hasPrefix("no secure connection") == true, "\(String(describing: error))")
        #expect(server.requests.isEmpty)
        try await withAuthority { authority in
            let provider = try Self.provider(server.base, authorities: authority)
            #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        }
    }
}

extension FaultServer.Reply {
    fileprivate var head: String {
        (["HTTP/1.1 \(status) So"] + headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" })
            .joined(separator: "\r\n") + "\r\n\r\n"
    }
}
