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
    /// The table of names as it was published last.
    func namesTable(after earlier: EarlierPacks) async throws(VaultError) -> NamesTable {
        let id = try PackID(PackNames.packID)
        guard let pack = try files.firstAvailable(earlier.candidates(for: id)) else {
            return try NamesTable()
        }
        return try await namesTable(of: pack)
    }

    private func namesTable(of pack: PackManifest) async throws(VaultError) -> NamesTable {
        let key = try await openers().contentKey(
            pack.contentKeyID, slots: pack.slots, place: pack.id.description)
        let (file, hosted) = try await files.published(pack, key: key)
        return try await NamesTable(following: pack, from: file, at: hosted)
    }

    /// What listed packs are called, also those that only a table of before or of another channel has; for reports alone.
    func complete(
        _ names: PackNames, for listed: [PackID], after earlier: EarlierPacks
    ) async throws(VaultError) -> PackNames {
        var names = names
        for pack in earlier.candidates(for: try PackID(PackNames.packID))
        where listed.contains(where: { names[listed: $0] == nil && $0 != pack.id }) {
            guard let table = try? await namesTable(of: pack).previous else { continue }
            names.complete(by: table.names, for: listed)
        }
        return names
    }

    /// Seals the table of quiet names, which clients need first, where they differ from the published ones.
    ///
    /// - Parameter readable: all other packs that the channel lists.
    func seal(
        _ names: PackNames, after table: NamesTable, forReadersOf readable: [PackManifest],
        _ earlier: EarlierPacks
    ) async throws(VaultError) -> SealingResult {
        if let same = table.version(with: names) {
            var pack = same.pack
            pack.slots = try await slots(of: same.key, replacing: pack.slots, forReadersOf: readable)
            return SealingResult(manifest: pack, reusedPieces: pack.pieceCount)
        }
        let key = try ContentKey.generate()
        let slots = try await slots(of: key, replacing: [], forReadersOf: readable)
        return try await sealTable(
            table.bytes(with: names, under: key), under: key, slots, after: table.previous?.pack, earlier)
    }

    private func sealTable(
        _ bytes: [UInt8], under key: ContentKey, _ slots: [KeySlot], after previous: PackManifest?,
        _ earlier: EarlierPacks
    ) async throws(VaultError) -> SealingResult {
        let id = try PackID(PackNames.packID)
        let scratch = try ScratchFolder(beside: vault.site)
        try DurableFile.write(
            bytes.span, to: scratch.path.appending(PackNames.path), permissions: 0o600, replacing: false)
        let source = try SourceFolder(scanning: scratch.path)
        let request = SealingRequest(
            id: id, versioning: .exactly(1), key: key, slots: slots,
            offer: PackOffer(policy: .essential), compression: .standard)
        let result = try await seal(
            request, source, after: previous, earlier.given
        ) { _ in }
        _ = consume scratch
        return result
    }

    /// A published table for those who read the other packs of its channel; as it is where no key opens it.
    func reseal(
        namesTable table: PackManifest, forReadersOf readable: [PackManifest]
    ) async throws(VaultError) -> PackManifest {
        var table = table
        do throws(VaultError) {
            let key = try await openers().contentKey(
                table.contentKeyID, slots: table.slots, place: table.id.description)
            table.slots = try await slots(of: key, replacing: table.slots, forReadersOf: readable)
        } catch {
            guard error.category == .key else { throw error }
        }
        return table
    }

    /// For whom a channel's table of names is sealed: the vault's own keys, and each key that a pack of the channel is sealed for. A slot
    /// of such a key that nobody has here stays.
    private func slots(
        of key: ContentKey, replacing earlier: [KeySlot], forReadersOf readable: [PackManifest]
    ) async throws(VaultError) -> [KeySlot] {
        var slots = try await ContentKeyChoice.slots(of: key, for: keys)
        let readers = Set(readable.flatMap(\.slots).map(\.keyID)).subtracting(slots.map(\.keyID))
        let openers = try openers()
        for id in readers.sorted(by: { $0.description < $1.description }) {
            if let reader = (try? await openers.keys(for: id))?.vaultKeys.first {
                slots.append(try KeySlot(wrapping: key, under: reader))
            } else {
                slots += earlier.filter { $0.keyID == id }
            }
        }
        try KeySlot.requireCount(slots.count, at: "vault keys")
        return slots
    }
}
