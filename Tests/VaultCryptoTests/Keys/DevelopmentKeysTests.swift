import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

/// The keys in `Keys/`, as the samples use them.
@Suite("Development keys") struct DevelopmentKeysTests {
    let keys = URL(filePath: #filePath).appending(path: "../../../../Keys").standardized

    @Test("the vault key is refused as git checks it out, and read once it is private")
    func vaultKey() async throws {
        let folder = try TestFolder()
        let text = try String(
            contentsOf: keys.appending(path: "development-only.vault.jwks"), encoding: .utf8)
        let open = try folder.write(text, to: "open", mode: 0o644)
        #expect(await failure { _ = try await FileKeyProvider(path: open).allKeys() }?.category == .key)
        let closed = try folder.write(text, to: "closed", mode: 0o600)
        #expect(try await FileKeyProvider(path: closed).allKeys().ids == ["development-only-do-not-ship"])
    }

    @Test("signing keys are read despite the warning before them, and differ")
    func signingKeys() throws {
        var seen: Set<Ed25519PublicKey> = []
        for role in ["root", "targets", "snapshot", "timestamp"] {
            let file = try Data(contentsOf: keys.appending(path: "development-only.\(role).pem"))
            #expect(file.starts(with: Data("DEVELOPMENT ONLY - DO NOT SHIP".utf8)))
            let key = try Ed25519PrivateKey(pem: SecretBytes(copying: [UInt8](file).span))
            seen.insert(key.publicKey)
        }
        #expect(seen.count == 4)
    }
}
