import SealedPack
import Testing
import UpdateFramework
import VaultBase
import VaultSite

/// What a site lists about the pack in a local file.
@Suite struct KnownPackTests {
    private func manifest(of pack: PackManifest, at vault: TestVault) async throws -> PackManifest {
        let file = try PackFile(opening: vault.file(of: pack), as: nil)
        return try PublishedPacks(seenIn: try await vault.tree()).manifest(of: file, at: "file")
    }

    @Test func findsEachPack() async throws {
        let vault = try await TestVault.published()
        for pack in try await vault.packs() {
            #expect(try await manifest(of: pack, at: vault) == pack)
        }
    }

    @Test func refusesAPackOfAnotherSite() async throws {
        let (vault, other) = (try await TestVault.published(), try await TestVault.published())
        let error = await #expect(throws: VaultError.self) {
            let file = try PackFile(opening: other.file(of: try await other.packs()[0]), as: nil)
            _ = try PublishedPacks(seenIn: try await vault.tree()).manifest(of: file, at: "file")
        }
        #expect(error?.category == .missing)
    }

    /// A signer of `aaa` lists the pack as its own.
    @Test func refusesAPackWithTwoManifests() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[0]
        var json = pack.json
        var custom = try json.object("custom", at: "")
        var described = try custom.object("assetvault", at: "")
        described["id"] = "aaa"
        custom["assetvault"] = .object(described)
        json["custom"] = .object(custom)
        try await vault.list(try TargetRecord(path: "packs/aaa.avpack", json: json))
        let error = await #expect(throws: VaultError.self) { _ = try await manifest(of: pack, at: vault) }
        #expect(error?.category == .corrupt)
        #expect(error?.problem.contains("'aaa' and 'levels/one'") == true)
    }
}
