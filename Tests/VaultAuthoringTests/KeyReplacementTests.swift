import SealedPack
import Testing
import VaultAuthoring
import VaultBase

/// What has no dry run refuses one, and changes nothing.
@Suite struct KeyReplacementTests {
    @Test func aDryRunIsRefused() async throws {
        let vault = try await TestVault.published()
        let (keys, settings) = (try vault.read(vault.vaultKeys), try vault.read(vault.vault.settings))
        let id = try #require(try await vault.packs().first?.keyIDs.first)
        var request = AuthorRequest(keys: vault.keys, now: vault.now)
        request.isDryRun = true
        let replacement = KeyReplacement(request)
        let begun = await #expect(throws: VaultError.self) {
            _ = try await replacement.begin(nil, in: vault.vault)
        }
        let removed = await #expect(throws: VaultError.self) {
            _ = try await replacement.remove(id, in: vault.vault)
        }
        #expect(begun?.category == .usage && begun?.place == "dry run")
        #expect(removed?.category == .usage && removed?.place == "dry run")
        #expect(try vault.read(vault.vaultKeys) == keys)
        #expect(try vault.read(vault.vault.settings) == settings)
    }
}
