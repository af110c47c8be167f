import SealedPack
import VaultErrors
import VaultFileSystem
import VaultSite

extension VaultClient {
    /// Brings the table of a site with quiet names, and opens it where its key is here, unless the store has its names. Without
    /// the key it waits as any pack, and packs have the names that the store knows, if any.
    func openNames(of listing: inout SiteAccess.Listing) async throws(VaultError) {
        guard listing.chain.hasQuietNames else {
            // The site has made its names public.
            if try FileSystem.exists(storeAccess.layout.names) {
                try FileSystem.removeFile(storeAccess.layout.names)
            }
            return
        }
        guard let offer = try await access.namesOffer(in: listing) else { return }
        if let stored = try? StoredNames(of: storeAccess), stored.digest == offer.pack.sha256 { return }
        let keys = keysOfRun(for: [offer])
        do throws(VaultError) {
            if try await stager(with: keys).stage(offer) == .loaded,
                let names = try await store.adoptNames(with: keys)
            {
                listing.names = names
                return
            }
        } catch {
            guard error.category == .key else { throw error }
        }
        listing.missingNames = VaultError(
            .key, "the site's names are quiet, and no key was given that opens their table",
            at: offer.pack.id.description, remedy: "give a key of the site", hint: .givingKey)
    }
}
