import UpdateFramework
import VaultErrors
import VaultSite

extension StoredListing {
    /// The first result by what the app verified before refreshes that did not read all delegated roles again, the newest first: it
    /// says of loaded packs what this listing does not know. Each is one state of the site, and counts only while whoever signed for
    /// it still may. Nil where there is no result.
    func firstEarlier<Result>(
        _ body: (StoredListing) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result? {
        try await trust.firstEarlierState { state throws(VaultError) in
            guard let chain = try? state.chain.following(channel),
                self.chain.hasTheDelegations(of: chain), try await knowsNames(of: chain, state.lookup)
            else { return nil }
            return try await body(StoredListing(self, before: chain, state.lookup))
        }
    }

    /// Whether the stored names, if they are needed, are those that a state lists: others would mix two states.
    func knowsNames(
        of chain: TrustChain, _ lookup: TargetLookup
    ) async throws(VaultError) -> Bool {
        guard chain.hasQuietNames || self.chain.hasQuietNames else { return true }
        let path = try PackID(PackNames.packID).targetPath
        guard let storedNames, let record = try? await lookup.target(at: path, in: chain),
            let listed = try? ListedPack(record)
        else { return false }
        return listed.pack.sha256 == storedNames.digest
    }
}
