import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Generated key files") struct VaultKeyFileTests {
    @Test("a new key file is private to the owner, whatever the umask")
    func generate() async throws {
        let folder = try TestFolder()
        let path = folder.path.appending("vault.jwks")
        let id = try VaultKeyFile.generate(at: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let ring = try await FileKeyProvider(path: path).allKeys()
        #expect(ring.vaultKeys.map(\.id) == [id])
        #expect(id.description.count == 22 && !id.description.hasPrefix("-"))
        let text = try String(contentsOfFile: path.string, encoding: .utf8)
        let start = #"{"keys":[{"kty":"oct","alg":"A256KW","use":"enc","kid":"\#(id)","k":""#
        #expect(text.hasPrefix(start) && text.hasSuffix("\"}]}\n"))
        #expect(text.utf8.count == start.utf8.count + 43 + 5)
    }

    @Test("generated keys differ")
    func fresh() async throws {
        let folder = try TestFolder()
        var seen: Set<[UInt8]> = []
        for number in 0..<20 {
            let path = folder.path.appending("\(number)")
            try VaultKeyFile.generate(at: path)
            seen.formUnion(try await FileKeyProvider(path: path).allKeys().vaultKeyBytes)
        }
        #expect(seen.count == 20)
    }

    @Test("existing files are not overwritten")
    func exists() async throws {
        let folder = try TestFolder()
        let path = try folder.write("precious", to: "vault.jwks")
        let error = await failure { try VaultKeyFile.generate(at: path) }
        #expect(error?.category == .unwritable)
        #expect(try String(contentsOfFile: path.string, encoding: .utf8) == "precious")
        let nowhere = await failure { try VaultKeyFile.generate(at: folder.path.appending("no/vault.jwks")) }
        #expect(nowhere?.category == .unwritable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path.string) == ["vault.jwks"])
    }

    @Test("a content key is written as a JWK and read again")
    func contentKey() async throws {
        let id = [UInt8](0..<16)
        let key = try #require(try ring(SampleKey(value: 7).contentJWK(id)).contentKeys.first)
        let read = try KeyRing(parsingJWK: KeyRing(contentKeys: [key]).jwkSet(), place: "jwk")
        #expect(read.contentKeys.map(\.contentKeyID) == [id])
        #expect(read.contentKeys.map { $0.secret.copied } == [SampleKey(value: 7).bytes])
        #expect(read.vaultKeys.isEmpty)
    }
}
