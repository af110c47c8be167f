import UpdateFramework
import VaultErrors
import VaultSite

extension StoredListing {
    /// The first result by what the app verified before refreshes that did not read all delegated roles again, or brought names that
    /// are not opened yet, the newest first: it says of loaded packs what this listing does not know. Each is one state of the site,
    /// and counts only while whoever signed for it still may. Nil where there is no result.
    func firstEarlier<Result>(
        _ body: (StoredListing) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result? {
        try await trust.firstEarlierState { state throws(VaultError) in
            guard let chain = try? state.chain.following(channel), self.chain.hasTheDelegations(of: chain)
            else { return nil }
            let earlier = StoredListing(
                self, before: chain, state.lookup,
                hasQuietNames: try? await state.lookup.hasQuietNames(channel, in: chain))
            guard try await earlier.knowsNames else { return nil }
            return try await body(earlier)
        }
    }

    /// Whether the packs can be told by their names and tags: they are public, or the stored ones are those of just this state. Others
    /// would mix two states.
    var knowsNames: Bool {
        get async throws(VaultError) {
            switch hasQuietNames {
            case false?: return true
            case nil: return false
            case true?:
                guard let storedNames, let table = try await namesTable else { return false }
                return table.sha256 == storedNames.digest
            }
        }
    }

    /// The pack with the table of quiet names; nil where none is listed.
    var namesTable: PackManifest? {
        get async throws(VaultError) {
            let path = try PackID(PackNames.packID).targetPath
            guard let record = try? await lookup.target(at: path, in: chain) else { return nil }
            return (try? ListedPack(record))?.pack
        }
    }
}
