import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// The packs that a selection means, as a site lists them now.
struct SelectedPacks {
    /// In the order in which they are wanted.
    let listings: [PublishedPacks.Listing]
    /// Delegated roles that are not believed: what they may list is unknown.
    let refusals: [VaultError]

    /// Named packs are looked up one by one, so that of a large site only the metadata on their way is read. Throws
    /// `.missing` for one that the site does not list.
    init(
        _ selection: PackSelection, of site: Site, in chain: TrustChain, trust: MetadataStore, now: UTCTime
    ) async throws(VaultError) {
        guard case .only(let ids) = selection else {
            let tree = try await trust.tree(of: chain, from: site, now: now)
            let published = PublishedPacks(of: tree).listings
            refusals = tree.refusals.map(\.error)
            listings =
                if case .all = selection { published } else {
                    published.filter { $0.pack.offer.policy == .essential }
                        + published.filter { $0.pack.offer.policy == .prefetch }
                }
            return
        }
        var listings: [PublishedPacks.Listing] = []
        for id in ids {
            guard let record = try await trust.target(at: id.targetPath, in: chain, from: site, now: now)
            else {
                let tree = try await trust.tree(of: chain, from: site, now: now)
                throw VaultError(
                    .missing, "the site lists no pack '\(id)'", at: id.description,
                    remedy: Self.choice(among: PublishedPacks(of: tree)))
            }
            listings.append(try PublishedPacks.Listing(record))
        }
        self.listings = listings
        refusals = []
    }

    private static func choice(among published: PublishedPacks) -> String {
        let ids = published.listings.map(\.pack.id.description)
        let more = ids.count > 8 ? " and \(ids.count - 8) more" : ""
        return ids.isEmpty
            ? "it lists none at all" : "choose among \(ids.prefix(8).joined(separator: ", "))\(more)"
    }
}
