import Foundation
import Testing

/// Packs that wait for their keys.
struct LockedPackTests {
    /// `--wait` asks the source again until the key is there.
    @Test func aKeyThatArrivesWhileItIsAwaited() async throws {
        let world = try await World("start")
        try await world.fetch(withKeys: false).succeeded()
        let key = world["late.jwks"]
        async let unlocked = world.run("unlock $STORE --keys file:\(key) --wait 60")
        try await Task.sleep(for: .seconds(1))
        try FileManager.default.copyItem(atPath: world["vault/keys/vault.jwks"], toPath: key)
        let result = try await unlocked.succeeded()
        #expect(result.errorText.contains("start"), "\(result.errorText)")
    }
}
