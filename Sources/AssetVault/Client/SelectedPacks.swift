import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// The packs that a selection may concern, as a site lists them now.
struct SelectedPacks {
    /// In the order in which they are wanted.
    let offers: [OfferedPack]
    /// Delegated roles that are not believed: what they may list is unknown.
    let refusals: [VaultError]

    /// Named packs are looked up one by one, so that of a large site only the metadata on their way is read. Throws
    /// `.missing` for one that the site does not list.
    init(_ selection: PackSelection, of access: SiteAccess, in listing: SiteAccess.Listing)
        async throws(VaultError)
    {
        var offers: [OfferedPack] = []
        guard case .only(let ids) = selection else {
            let tree = try await access.trust.tree(of: listing.chain, from: listing.site, now: listing.now)
            refusals = tree.refusals.map(\.error)
            for published in PublishedPacks(of: tree).listings {
                offers.append(try access.offer(published, in: listing))
            }
            self.offers = offers
            return
        }
        for id in ids {
            guard
                let record = try await access.trust.target(
                    at: id.targetPath, in: listing.chain, from: listing.site, now: listing.now)
            else {
                let tree = try await access.trust.tree(
                    of: listing.chain, from: listing.site, now: listing.now)
                throw VaultError(
                    .missing, "the site lists no pack '\(id)'", at: id.description,
                    remedy: Self.choice(among: PublishedPacks(of: tree)))
            }
            offers.append(try access.offer(PublishedPacks.Listing(record), in: listing))
        }
        self.offers = offers
        refusals = []
    }

    private static func choice(among published: PublishedPacks) -> String {
        let ids = published.listings.map(\.pack.id.description)
        let more = ids.count > 8 ? " and \(ids.count - 8) more" : ""
        return ids.isEmpty
            ? "it lists none at all" : "choose among \(ids.prefix(8).joined(separator: ", "))\(more)"
    }
}
