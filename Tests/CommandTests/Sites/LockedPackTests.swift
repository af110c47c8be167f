import Foundation
import Testing

/// Packs that wait for their keys.
struct LockedPackTests {
    /// `--wait` asks the source again until the key is there.
    @Test func aKeyThatArrivesWhileItIsAwaited() async throws {
        let world = try await World("start")
        try await world.fetch(withKeys: false).succeeded()
        let key = world["late.jwks"]
        async let unlocked = world.run("unlock $STORE --keys file:\(key) --wait 600")
        // It has most likely looked by then; where it has not, it finds the key at once.
        try await Task.sleep(for: .seconds(1))
        try await world.copy("vault/keys/vault.jwks", to: "whole.jwks")
        try FileManager.default.moveItem(atPath: world["whole.jwks"], toPath: key)
        let result = try await unlocked.succeeded()
        #expect(result.errorText.contains("start"), "\(result.errorText)")
    }
}
