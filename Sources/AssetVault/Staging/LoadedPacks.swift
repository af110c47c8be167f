import SealedPack
import VaultErrors
import VaultFileSystem

/// Which packs need nothing: of a large site nearly all, nearly always.
extension PackStaging {
    /// So many are looked at by one task.
    private static let share = 256

    /// The packs that stand in permanent storage just as they are listed.
    func loaded(
        among packs: [PackManifest], as form: PackForm?, listedBy listing: ListingVersion
    ) async -> Set<PackID> {
        await withTaskGroup(of: [PackID].self) { group in
            for start in stride(from: 0, to: packs.count, by: Self.share) {
                group.addTask {
                    packs[start..<min(start + Self.share, packs.count)]
                        .filter { isLoaded($0, as: form, listedBy: listing) }.map(\.id)
                }
            }
            var loaded: Set<PackID> = []
            for await ids in group { loaded.formUnion(ids) }
            return loaded
        }
    }

    /// Anything odd makes it false: whoever stages the pack then finds out.
    private func isLoaded(_ pack: PackManifest, as form: PackForm?, listedBy listing: ListingVersion)
        -> Bool
    {
        guard let record = try? records.record(of: pack.id), let form = form ?? record.loaded?.form else {
            return false
        }
        let version = layout.version(pack, as: form)
        guard record.isLoaded(pack, as: form, listedBy: listing),
            let current = try? FileSystem.status(of: layout.current(of: pack.id), followingLinks: true),
            let loaded = try? FileSystem.status(of: version), current.isSameFile(as: loaded)
        else { return false }
        guard !hasChangedFingerprint(record) else { return false }
        let manifest = manifestBytes(of: pack)
        let path = PackManifestFile.path(beside: version)
        return (try? DurableFile.read(path, limit: manifest.count)) == manifest
    }
}

extension PackRecord {
    func isLoaded(_ pack: PackManifest, as form: PackForm, listedBy listing: ListingVersion) -> Bool {
        self.listing <= listing && loaded == Loaded(pack: pack, form: form) && waiting == nil
            && arriving == nil && failure == nil && !isRemoved
    }
}
