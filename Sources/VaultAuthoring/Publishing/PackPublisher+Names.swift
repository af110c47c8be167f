import PackSealing
import PackSources
import SealedPack
import SystemPackage
import VaultContent
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

extension PackPublisher {
    /// The key of the table of quiet names, which also makes the names: that of its earlier version.
    func namesKey(after earlier: EarlierPacks, for names: [String]) async throws(VaultError)
        -> ContentKeyChoice
    {
        let id = try PackID(PackNames.packID)
        let previous = try files.firstAvailable(earlier.candidates(for: id))
        return try await ContentKeyChoice(
            following: previous, keys: CombinedKeyProvider([keys, try audiences.keys(of: audiences.all)]),
            sealingFor: CombinedKeyProvider([keys, try audiences.keys(of: names)]))
    }

    /// Seals the table of quiet names, which clients need first.
    func seal(
        _ names: PackNames, as choice: ContentKeyChoice, after earlier: EarlierPacks
    ) async throws(VaultError) -> SealingResult {
        let id = try PackID(PackNames.packID)
        let scratch = try ScratchFolder(beside: vault.site)
        try DurableFile.write(
            names.bytes.span, to: scratch.path.appending(PackNames.path), permissions: 0o600, replacing: false
        )
        let source = try SourceFolder(scanning: scratch.path)
        let taken = try await earlier.takenVersions(of: [id])
        let request = SealingRequest(
            id: id, versioning: .exactly(1), key: choice.key, slots: choice.slots,
            offer: PackOffer(policy: .essential), compression: .standard)
        let result = try await seal(
            request, source, after: try files.firstAvailable(earlier.candidates(for: id)),
            above: taken[id] ?? 0
        ) { _ in }
        _ = consume scratch
        return result
    }
}
