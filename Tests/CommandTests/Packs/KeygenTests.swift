import StrictJSON
import Testing

struct KeygenTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [0o000, 0o022, 0o077, 0o777] as [UInt16])
    func makesAPrivateKeySet(umask: UInt16) async throws {
        let result = try await Command.run("keygen", "-o", folder["vault.jwks"], umask: umask).succeeded()
        #expect(result.errors == [])
        #expect(try folder.names() == ["vault.jwks"])
        #expect(try folder.permissions("vault.jwks") == 0o600)
        let set = try JSONValue(parsing: try folder.bytes("vault.jwks").span, place: "vault.jwks")
        let keys = try set.object(at: "").array("keys")
        #expect(keys.count == 1)
    }
}
