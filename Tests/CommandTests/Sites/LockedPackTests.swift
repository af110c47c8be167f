import Foundation
import Testing

/// Packs that wait for their keys.
struct LockedPackTests {
    /// `--wait` asks the source again until the key is there.
    @Test func aKeyThatArrivesWhileItIsAwaited() async throws {
        let testSite = try await TestSite(publishing: ["start"])
        let folder = testSite.folder
        try await testSite.fetch(withKeys: false).succeeded()
        let key = folder["late.jwks"]
        async let unlocked = Command.run(
            "unlock", "--store", testSite.store, "--keys", "file:\(key)", "--wait", "60")
        try await Task.sleep(for: .seconds(1))
        try FileManager.default.copyItem(atPath: folder["vault/keys/vault.jwks"], toPath: key)
        let result = try await unlocked.succeeded()
        #expect(result.errorText.contains("start"), "\(result.errorText)")
    }
}
