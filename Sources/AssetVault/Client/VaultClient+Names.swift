import SealedPack
import VaultErrors
import VaultSite

extension VaultClient {
    /// Brings the table of a channel with quiet names, and opens it where its key is here, unless the store has its names. Without
    /// the key it waits as any pack, and packs have the names that the store knows, if any; so it is where the table fails.
    ///
    /// - Parameter allowance: of the whole call.
    func openNames(
        of listing: inout SiteAccess.Listing, within allowance: TransferAllowance
    ) async throws(VaultError) {
        guard let hasQuietNames = listing.hasQuietNames else { return }
        if hasQuietNames {
            listing.missingNames = try await bringNames(of: &listing, within: allowance)
            // That of a pack whose name is missing for it may come first.
            if let failure = listing.missingNames, failure.category != .key {
                observer(.failed(try PackID(PackNames.packID), failure))
            }
        }
        try await store.followNames(
            of: listing.siteChain, areQuiet: hasQuietNames, areKnown: listing.missingNames == nil)
    }

    /// Returns why the names are not those of the listing; nil where they are.
    private func bringNames(
        of listing: inout SiteAccess.Listing, within allowance: TransferAllowance
    ) async throws(VaultError) -> VaultError? {
        var table: PackManifest?
        do throws(VaultError) {
            guard let offer = try await access.namesOffer(in: listing) else { return nil }
            table = offer.pack
            if let stored = try? StoredNames(of: storeAccess), stored.digest == offer.pack.sha256 {
                return nil
            }
            let keys = keysOfRun(for: [offer])
            let stager = stager(with: keys, within: allowance)
            do throws(VaultError) {
                if try await stager.stage(offer) == .loaded,
                    let names = try await store.adoptNames(with: keys)
                {
                    listing.names = names
                    return nil
                }
            } catch {
                await stager.recordFailure(error, of: StagingTask(id: offer.pack.id, offer: offer))
                throw error
            }
            return .closedNames(offer.pack)
        } catch {
            guard error.concernsOnePack else { throw error }
            if error.category == .key, let table { return .closedNames(table) }
            return error.ofNames
        }
    }
}
