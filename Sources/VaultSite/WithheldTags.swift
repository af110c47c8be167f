import SealedPack
public import UpdateFramework
import VaultErrors

/// Tags that packs of a team carry, and that the site does not grant to the team.
public struct WithheldTags: SiteNotice, Hashable {
    public let team: MetadataRole
    /// Sorted.
    public let tags: [String]

    private static let namedTags = 4

    public var problem: String {
        let names = tags.map { "'\($0.excerpt)'" }.listed(upTo: Self.namedTags)
        return
            "tags of packs of the team '\(team)' count for nothing, as the site does not grant them: \(names)"
    }

    public var remedy: String {
        "add them to \"tags\" of the team in vault.json, or let the team drop them"
    }
}

extension PublishedPacks {
    /// Each team once, sorted by their names.
    public var withheldTags: [WithheldTags] {
        var found: [MetadataRole: Set<String>] = [:]
        for listed in packs {
            guard let team = listed.signer else { continue }
            for pack in [listed.pack] + listed.otherVersions where !pack.offer.withheldTags.isEmpty {
                found[team, default: []].formUnion(pack.offer.withheldTags)
            }
        }
        return found.sorted { $0.key < $1.key }.map { WithheldTags(team: $0.key, tags: $0.value.sorted()) }
    }
}
