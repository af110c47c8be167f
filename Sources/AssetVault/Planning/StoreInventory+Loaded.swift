import SealedPack
import VaultConcurrency
import VaultErrors
import VaultFileSystem

/// The packs that need nothing: of a large site nearly all.
extension StoreInventory {
    /// Number of packs that one task looks at.
    private static let share = 256

    /// The packs that are live just as they are listed.
    func loaded(
        among packs: [PackManifest], as form: PackForm?, listedBy listing: ListingVersion
    ) async throws(VaultError) -> Set<PackID> {
        var shares = stride(from: 0, to: packs.count, by: Self.share).map {
            packs[$0..<min($0 + Self.share, packs.count)]
        }[...]
        var loaded: Set<PackID> = []
        try await runInOrder(
            next: { NextInput(shares.popFirst()) }, memory: { _ in 0 },
            work: { $0.filter { isLoaded($0, as: form, listedBy: listing) }.map(\.id) },
            deliver: { loaded.formUnion($0) })
        return loaded
    }

    /// False for anything odd: staging the pack finds out what it is.
    private func isLoaded(_ pack: PackManifest, as form: PackForm?, listedBy listing: ListingVersion)
        -> Bool
    {
        guard let record = try? store.records.record(of: pack.id), let form = form ?? record.loaded?.form
        else {
            return false
        }
        let version = store.layout.version(pack, as: form)
        guard record.isLoaded(pack, as: form, listedBy: listing),
            let current = try? FileSystem.status(of: store.layout.current(of: pack.id), followingLinks: true),
            let loaded = try? FileSystem.status(of: version), current.isSameFile(as: loaded)
        else { return false }
        guard !store.journal.hasChangedFingerprint(record) else { return false }
        return pack.isSaved(beside: version)
    }
}

extension PackRecord {
    func isLoaded(_ pack: PackManifest, as form: PackForm, listedBy listing: ListingVersion) -> Bool {
        self.listing <= listing && loaded == Loaded(pack: pack, form: form) && waiting == nil
            && arriving == nil && failure == nil && !isRemoved
    }
}
