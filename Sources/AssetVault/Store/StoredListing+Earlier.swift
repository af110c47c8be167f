import UpdateFramework
import VaultErrors
import VaultSite

extension StoredListing {
    /// What the app verified before refreshes that did not read all delegated roles again, the newest first: it says of loaded
    /// packs what this listing does not know. Each is one state of the site, and counts only while whoever signed for it still may.
    var earlier: [StoredListing] {
        get async throws(VaultError) {
            var listings: [StoredListing] = []
            for state in try await trust.earlierStates() {
                guard let chain = try? state.chain.following(channel),
                    self.chain.hasTheDelegations(of: chain), try await knowsNames(of: chain, state.lookup)
                else { continue }
                listings.append(StoredListing(self, before: chain, state.lookup))
            }
            return listings
        }
    }

    /// Whether the stored names, if they are needed, are those that a state lists: others would mix two states.
    private func knowsNames(
        of chain: TrustChain, _ lookup: TargetLookup
    ) async throws(VaultError) -> Bool {
        guard chain.hasQuietNames || self.chain.hasQuietNames else { return true }
        let path = try PackID(PackNames.packID).targetPath
        guard let namesDigest, let record = try? await lookup.target(at: path, in: chain),
            let listed = try? ListedPack(record)
        else { return false }
        return listed.pack.sha256 == namesDigest
    }
}
