import SystemPackage
import Testing
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import SealedPack
@testable import VaultAuthoring

/// An owner of a content key can make a pack with valid digests whose pieces differ from its catalog. Only a key
/// shows it.
@Suite struct ForgedPackTests {
    @Test func findsTheFilesOfAWrongPiece() async throws {
        let vault = try await TestVault.published()
        let honest = try await vault.packs()[0]
        let key = try await vault.keys.contentKey(honest.contentKeyID, slots: honest.slots, place: "test")
        let path = vault.place.path.appending("forged.avpack")
        let output = OpenFileReference(try OpenFile(creating: path, permissions: 0o644))
        let sealer = PieceSealer(key: key, compression: .standard, previous: nil)
        var writer = try PackWriter(to: output, key: key)
        for number in 0..<4 {
            let said = TestVault.noise(1000, seed: number * 10)
            let piece = try sealer.seal(said)
            let swapped = try sealer.seal(TestVault.noise(1000, seed: number == 2 ? 99 : number * 10))
            try writer.append(
                SealedPiece(
                    ciphertext: swapped.ciphertext, digest: swapped.digest, plainLength: piece.plainLength,
                    plainDigest: piece.plainDigest, isReused: false))
        }
        // The wrong piece ends `b`, holds `c` and `d`, and begins `f`; `e` is empty.
        for (name, size) in [
            ("a", 1000), ("b", 1300), ("c", 200), ("d", 100), ("e", 0), ("f", 900), ("g", 500),
        ] {
            try writer.catalog.appendEntry(try EntryPath(name), kind: .file, size: UInt64(size))
        }
        let pack = try writer.finish(
            id: honest.id, version: 1, offer: honest.offer, slots: honest.slots, first: [], repeating: nil)
        let manifest = try vault.write(PackManifestFile.bytes(of: pack), to: "forged.avpack.json")

        #expect(try await vault.audit(path, by: .manifest(manifest)).gravestError == nil)
        let report = try await vault.audit(path, by: .manifest(manifest), keyed: true)
        #expect(report.gravestError?.category == .corrupt)
        let places = report.packs.flatMap(\.findings).map(\.place)
        #expect(places == ["b", "c", "d", "f"].map { "\(path): \($0)" })
        #expect(report.packs.first?.verifiedEntries == 3)
    }

    /// Clients with one key open the pack, those with the other can't.
    @Test func findsASlotOfAnotherContentKey() async throws {
        let vault = try await TestVault.published()
        try VaultKeyFile.generate(at: vault.otherKeys)
        let other = FileKeyProvider(path: vault.otherKeys)
        var pack = try await vault.packs()[0]
        let vaultKey = try #require(try await other.allKeys().vaultKeys.first)
        let key = try await vault.keys.contentKey(pack.contentKeyID, slots: pack.slots, place: "test")
        let file = try vault.file(of: pack)
        let both = CombinedKeyProvider([vault.keys, other])
        for (wrapped, codes) in [(key, []), (try ContentKey.generate(), ["wrong-slot"])]
            as [(ContentKey, [String])]
        {
            pack.slots = try [pack.slots[0], KeySlot(wrapping: wrapped, under: vaultKey)]
            let manifest = try vault.write(PackManifestFile.bytes(of: pack), to: "pack.json")
            let audit = PackAudit(of: file, by: .manifest(manifest), keys: both, now: vault.now)
            let report = try await audit.run()
            #expect(report.packs[0].findings.map(\.code.name) == codes)
        }
    }
}
