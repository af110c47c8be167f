import Foundation
import Sampling
import Testing

/// Packs that wait for their keys.
struct LockedPackTests {
    /// `--wait` asks the source again until the key is there.
    @Test func aKeyThatArrivesWhileItIsAwaited() async throws {
        let world = try await World("start")
        try await world.fetch(withKeys: false).succeeded()
        let key = world["late.jwks"]
        let calls = world["calls"]
        async let unlocked = world.run(
            "unlock $STORE --keys file:\(key) --wait 600",
            through: ["strace", "-f", "-qq", "-e", "trace=openat,openat2", "-o", calls])
        try await wait(for: "its look") {
            try world.exists("calls") && world.text("calls").contains("late.jwks")
        }
        try await world.copy("vault/keys/vault.jwks", to: "whole.jwks")
        try FileManager.default.moveItem(atPath: world["whole.jwks"], toPath: key)
        let result = try await unlocked.succeeded()
        #expect(result.errorText.contains("start"), "\(result.errorText)")
    }
}
