import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("SPECs") struct KeySpecTests {
    static let secret = SampleKey(value: 7).text

    @Test(
        "every kind is known",
        arguments: [
            "env:NAME", "env:_a1", "file:/path/with:colon", "file:relative name", "fd:0", "fd:63", "dir:.",
            "exec:pass show vault", "https://keys.example.org/game", "http://localhost:8443",
        ])
    func known(_ text: String) throws {
        _ = try KeySpec(parsing: text)
    }

    @Test(
        "what is refused is never echoed",
        arguments: [
            "", ":", "x", "env", "env:", "env:1A", "env:A-B", "env:Ä", "file:", "fd:", "fd:-1", "fd:1",
            "fd:2", "fd:+3",
            "fd:3x", "fd:99999999999", "dir:", "exec:", "exec:  ", "FILE:x", " file:x",
            "https:", "https:/example.org", "ftp://example.org/key",
        ])
    func unknown(_ text: String) async {
        let error = await failure { _ = try KeySpec(parsing: text) }
        #expect(error?.category == .usage)
        #expect(error?.problem == "unknown key source")
        #expect(error?.place == "key source")
    }

    @Test(
        "a literal key is refused with a hint",
        arguments: [
            secret, "\(secret)=", String(repeating: "0f", count: 32), SampleKey(value: 7).vaultJWK("one"),
            "env:\(secret)", "file:\(secret)", "key:\(secret)", "file:{\"k\":\"\(secret)\"}",
        ])
    func literal(_ text: String) async {
        let error = await failure { _ = try KeySpec(parsing: text) }
        #expect(error?.category == .usage)
        #expect(error?.problem.contains("this looks like a key on the command line") == true)
        #expect(error?.description.contains(Self.secret.prefix(8)) == false)
    }

    @Test("a path without its kind gets a hint") func plainPath() async throws {
        let folder = try TestFolder()
        let path = try folder.write(SampleKey(value: 7).vaultJWK("one"), to: "one.jwk")
        let error = await failure { _ = try KeySpec(parsing: path.string) }
        withExtendedLifetime(folder) {}
        #expect(error?.remedy.contains("put 'file:' before") == true)
    }

    @Test("a service is refused, with a way out, where there is no network") func serviceWithoutNetwork()
        async
    {
        let error = await failure { _ = try KeySpec(parsing: "https://keys.example.org/game").provider() }
        #expect(error?.category == .usage)
        #expect(error?.problem.contains("service") == true)
        #expect(error?.remedy.contains("exec:") == true)
    }

    @Test("a SPEC reads what it names")
    func reads() async throws {
        let folder = try TestFolder()
        let path = try folder.write(SampleKey(value: 7).vaultJWK("one"), to: "one.jwk")
        for text in ["file:\(path)", "dir:\(folder.path)", "exec:cat \(path) --"] {
            #expect(try await KeySpec(parsing: text).provider().allKeys().ids == ["one"])
        }
    }
}
