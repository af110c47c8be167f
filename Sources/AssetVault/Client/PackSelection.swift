public import SealedPack
import VaultErrors
import VaultSite

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: what a client has without being asked.
    case automatic
    case all
    case only([PackID])

    /// The packs meant, essential ones first. Throws `.missing` for an ID that the site does not list.
    func packs(in published: PublishedPacks) throws(VaultError) -> [PublishedPacks.Listing] {
        switch self {
        case .automatic:
            return published.listings.filter { $0.pack.offer.policy == .essential }
                + published.listings.filter { $0.pack.offer.policy == .prefetch }
        case .all:
            return published.listings
        case .only(let ids):
            return try ids.map { id throws(VaultError) in
                if let listing = published[id] { return listing }
                throw VaultError(
                    .missing, "the site lists no pack '\(id)'", at: id.description,
                    remedy: Self.choice(among: published))
            }
        }
    }

    private static func choice(among published: PublishedPacks) -> String {
        let ids = published.listings.map(\.pack.id.description)
        let more = ids.count > 8 ? " and \(ids.count - 8) more" : ""
        return ids.isEmpty
            ? "it lists none at all" : "choose among \(ids.prefix(8).joined(separator: ", "))\(more)"
    }
}
