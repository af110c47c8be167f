import SealedPack
import UpdateFramework
public import VaultBase

extension PublishedPacks {
    /// The tags that packs of teams carry, and that the site does not grant to the team: each team once, sorted by their names.
    public var withheldTags: [Finding] {
        var found: [MetadataRole: Set<String>] = [:]
        for listed in packs {
            guard let team = listed.signer else { continue }
            for pack in listed.versions where !pack.offer.withheldTags.isEmpty {
                found[team, default: []].formUnion(pack.offer.withheldTags)
            }
        }
        return found.sorted { $0.key < $1.key }.map { team, tags in
            let names = tags.sorted().map { "'\($0.excerpt)'" }.listed(upTo: 4)
            return .warning(
                "withheld-tags",
                "tags of packs of the team '\(team)' have no effect, as the site does not grant them: \(names)",
                at: team.name,
                remedy: "add them to \"tags\" of the team in vault.json, or let the team drop them")
        }
    }
}
