public import SealedPack
public import UpdateFramework
import VaultErrors
public import VaultSite

/// Packs of a team with a granted tag, sealed for none of the vault keys of the site's own packs of that tag. A request for a tag
/// needs all of its packs, so a client with the keys of the site alone is refused what it could have before.
public struct TeamKeyMismatch: SiteNotice {
    public let team: MetadataRole
    public let tag: String
    public let count: Int
    /// The first of them.
    public let pack: PackID

    public var problem: String {
        if count == 1 {
            return
                "the pack '\(pack)' of the team '\(team)' has the granted tag '\(tag.excerpt)', but is sealed for other keys than the site's packs of it: clients without its key can't begin '\(tag.excerpt)'"
        }
        return
            "\(count.counting("pack")) of the team '\(team)' have the granted tag '\(tag.excerpt)', but are sealed for other keys than the site's packs of it: clients without their keys can't begin '\(tag.excerpt)'; '\(pack)' is the first"
    }

    public var remedy: String {
        "let the team seal for a key of the site's packs, or remove the tag from \"tags\" of the team in vault.json"
    }
}

extension TeamKeyMismatch {
    /// Of packs that are a team's by their paths, in the order of the settings.
    static func all(among deliveries: [TeamDelivery], beside own: TagKeys) -> [TeamKeyMismatch] {
        deliveries.enumerated().flatMap { number, delivery in
            var found: [String: (count: Int, first: PackID)] = [:]
            for listed in delivery.reachablePacks.packs
            where !deliveries.prefix(number).contains(where: { $0.delegation.covers(listed.target.path) }) {
                let keys = Set(listed.pack.slots.map(\.keyID))
                for tag in listed.pack.tags where own[tag]?.isDisjoint(with: keys) ?? false {
                    found[tag] = ((found[tag]?.count ?? 0) + 1, found[tag]?.first ?? listed.pack.id)
                }
            }
            return found.sorted { $0.key < $1.key }.map {
                TeamKeyMismatch(
                    team: delivery.team.role, tag: $0.key, count: $0.value.count, pack: $0.value.first)
            }
        }
    }
}
