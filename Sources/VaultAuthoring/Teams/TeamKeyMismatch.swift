import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// Packs of a team with a granted tag, sealed for none of the vault keys of the site's own packs of that tag. A request for a tag
/// needs all of its packs, so a client with the keys of the site alone is refused what it could have before.
enum TeamKeyMismatch {
    /// Of packs that are a team's by their paths, in the order of the settings.
    static func all(among deliveries: [TeamDelivery], beside own: TagKeys) -> [Finding] {
        deliveries.enumerated().flatMap { number, delivery in
            var found: [String: (count: Int, first: PackID)] = [:]
            for listed in delivery.reachablePacks.packs
            where !deliveries.prefix(number).contains(where: { $0.delegation.covers(listed.target.path) }) {
                let keys = Set(listed.pack.slots.map(\.keyID))
                for tag in listed.pack.tags where own[tag]?.isDisjoint(with: keys) ?? false {
                    found[tag] = ((found[tag]?.count ?? 0) + 1, found[tag]?.first ?? listed.pack.id)
                }
            }
            return found.sorted { $0.key < $1.key }.map { tag, packs in
                Finding.warning(
                    "team-keys", problem(packs.count, packs.first, tag, delivery.team.role),
                    at: delivery.team.role.name,
                    remedy:
                        "let the team seal for a key of the site's packs, or remove the tag from \"tags\" of the team in vault.json"
                )
            }
        }
    }

    private static func problem(_ count: Int, _ first: PackID, _ tag: String, _ team: MetadataRole) -> String
    {
        let tag = tag.excerpt
        if count == 1 {
            return
                "the pack '\(first)' of the team '\(team)' has the granted tag '\(tag)', but is sealed for other keys than the site's packs of it: clients without its key can't begin '\(tag)'"
        }
        return
            "\(count.counting("pack")) of the team '\(team)' have the granted tag '\(tag)', but are sealed for other keys than the site's packs of it: clients without their keys can't begin '\(tag)'; '\(first)' is the first"
    }
}
