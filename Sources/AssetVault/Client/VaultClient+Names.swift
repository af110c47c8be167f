import SealedPack
import VaultContent
import VaultErrors
import VaultFileSystem
import VaultSite

extension VaultClient {
    /// Fetches and opens the table of a site with quiet names, unless the store has its names. Nil for other sites, and without
    /// the table's key: packs have the names that the store knows, if any.
    func openNames(in listing: SiteAccess.Listing) async throws(VaultError) -> PackNames? {
        guard listing.chain.hasQuietNames else {
            // The site has made its names public.
            if try FileSystem.exists(storeAccess.layout.names) {
                try FileSystem.removeFile(storeAccess.layout.names)
            }
            return nil
        }
        guard let keys = keysOfRun, let offer = try await access.namesOffer(in: listing) else { return nil }
        if let stored = try? StoredNames(of: storeAccess), stored.digest == offer.pack.sha256 { return nil }
        do throws(VaultError) {
            _ = try await stager(with: keys).stage(offer)
            let bytes = try await store.contents(of: EntryPath(PackNames.path), in: offer.pack.id)
            var names = try PackNames(parsing: bytes, place: offer.pack.id.description)
            // Another channel lists other packs; those that the store has keep their names.
            if let earlier = try? StoredNames(of: storeAccess)?.names {
                names.complete(by: earlier, for: try storeAccess.records.ids())
            }
            try StoredNames(names, of: offer.pack).save(in: storeAccess.layout)
            return names
        } catch {
            guard error.category == .key else { throw error }
            return nil
        }
    }
}
