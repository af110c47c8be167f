import StrictJSON
import Testing
import VaultBytes

struct KeygenTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// The only key of the generated set.
    private func key(_ name: String) throws -> JSONObject {
        let keys = try folder.json(name).array("keys", at: name)
        try #require(keys.count == 1)
        return try keys[0].asObject(at: name)
    }

    @Test(arguments: [0o000, 0o022, 0o077, 0o777] as [UInt16])
    func makesAPrivateKeySet(umask: UInt16) async throws {
        let result = try await Command.run("keygen", "-o", folder["vault.jwks"], umask: umask).succeeded()
        #expect(result.errors == [])
        #expect(try folder.names() == ["vault.jwks"])
        #expect(try folder.permissions("vault.jwks") == 0o600)
        let key = try key("vault.jwks")
        #expect(try key.string("kty", at: "key") == "oct")
        #expect(try key.string("alg", at: "key") == "A256KW")
        #expect(try Base64URL.decode(key.string("k", at: "key").utf8)?.count == 32)
        #expect(try result.text == key.string("kid", at: "key") + "\n")
    }

    /// For piping into the client of a secret store: only the key is printed.
    @Test func writesToStandardOutput() async throws {
        let result = try await Command.run("keygen", "-o", "-", workingDirectory: folder.path).succeeded()
        #expect(try folder.names() == [])
        try folder.write("vault.jwks", result.output, permissions: 0o600)
        let key = try key("vault.jwks")
        #expect(try Base64URL.decode(key.string("k", at: "key").utf8)?.count == 32)
        #expect(try result.errorText == "made the vault key \(key.string("kid", at: "key"))\n")
        #expect(try !result.errorText.contains(key.string("k", at: "key")))
        // The key is valid.
        try folder.write("level/file", "content")
        let seal = ["seal", folder["level"], "-o", folder["pack"], "--keys", "file:\(folder["vault.jwks"])"]
        try await Command.run(seal).succeeded()
        // A failed write is a failure.
        let full = try await Command.run(
            "keygen", "-o", "-", through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(71, naming: "standard output")
    }

    @Test func everyKeyIsFresh() async throws {
        try await Command.run("keygen", "-o", folder["one"]).succeeded()
        try await Command.run("keygen", "--output", folder["two"]).succeeded()
        for member in ["k", "kid"] {
            #expect(try key("one").string(member, at: "") != key("two").string(member, at: ""))
        }
    }

    @Test func overwritesNothing() async throws {
        try folder.write("key", "precious")
        try folder.makeFolder("folder")
        try await Tool.run("ln", "-s", "nowhere", folder["dangling"])
        for name in ["key", "folder", "dangling"] {
            try await Command.run("keygen", "-o", folder[name]).failed(73, naming: folder[name])
        }
        #expect(try folder.names() == ["dangling", "folder", "key"])
        #expect(try folder.bytes("key") == Array("precious".utf8))
        try await Command.run("keygen", "-o", folder["absent/key"]).failed(73, naming: folder["absent/key"])
        #expect(try folder.names(in: "folder") == [])
    }
}
