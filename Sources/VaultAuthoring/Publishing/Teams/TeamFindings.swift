import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite

/// Errors and probable mistakes in the deliveries of teams. 'plan' and each publication, also a dry run, find the same.
/// ``TeamPathConflicts`` are the only other ones: they need the files.
extension [TeamDelivery] {
    /// Throws `.usage` where a path of the site's own is within those of a team.
    ///
    /// - Parameter names: what opaque IDs stand for.
    func requireNone(listing records: [TargetRecord], named names: PackNames) throws(VaultError) {
        for record in records {
            let path = PackID(targetPath: record.path).map { names.shownID(of: $0).targetPath } ?? record.path
            guard let team = first(where: { $0.delegation.covers(path) }) else { continue }
            throw VaultError(
                .usage, "it is within the paths of the team '\(team.team.role)'", at: "target \(path)",
                remedy: "give the pack another ID, or the team other paths")
        }
    }

    /// Tags that packs carry and that are not granted to the team.
    var withheldTags: [Finding] { flatMap(\.reachablePacks.withheldTags) }

    /// Targets that teams list outside of their paths.
    var unreachableTargets: [Finding] { compactMap(\.unreachableTargets) }

    /// Packs of a team at paths that are also assigned to an earlier team. By their IDs they are the earlier team's, listed or not at
    /// the time (TUF section 5.6.7: the first role that lists a path decides). Of all pairs of teams, in the order of the settings.
    var overlaps: [Finding] {
        enumerated().flatMap { number, later in
            prefix(number).compactMap { earlier in
                let shared = (later.targets?.records ?? []).filter {
                    later.delegation.covers($0.path) && earlier.delegation.covers($0.path)
                }
                return shared.first.map { first in
                    .warning(
                        "overlapping-teams",
                        "\(shared.count.counting("pack")) of the team '\(later.team.role)' \(shared.count == 1 ? "is" : "are") at paths of the team '\(earlier.team.role)', whose packs come first: \(first.path.excerpt)",
                        at: later.team.role.name,
                        remedy: "give the teams paths in vault.json that do not overlap")
                }
            }
        }
    }

    /// Packs with a granted tag, sealed for none of the vault keys of the site's own packs of that tag. A request for a tag needs
    /// all of its packs, so a client with only the site's keys is refused a tag that it could use before. Only packs within a
    /// team's own paths count, in the order of the settings.
    func keyMismatches(beside own: TagKeys) -> [Finding] {
        enumerated().flatMap { number, delivery in
            var found: [String: (count: Int, first: PackID)] = [:]
            for listed in delivery.reachablePacks.packs
            where !prefix(number).contains(where: { $0.delegation.covers(listed.target.path) }) {
                let keys = Set(listed.pack.slots.map(\.keyID))
                for tag in listed.pack.tags where own[tag]?.isDisjoint(with: keys) ?? false {
                    found[tag] = ((found[tag]?.count ?? 0) + 1, found[tag]?.first ?? listed.pack.id)
                }
            }
            return found.sorted { $0.key < $1.key }.map { tag, packs in
                delivery.keyMismatch(of: packs.count, packs.first, tag.excerpt)
            }
        }
    }
}

extension TeamDelivery {
    /// Nil where there are none.
    var unreachableTargets: Finding? {
        let outside = (targets?.records ?? []).filter { !delegation.covers($0.path) }
        return outside.first.map { first in
            .warning(
                "unreachable-targets",
                "the team '\(team.role)' lists \(outside.count.counting("target")) outside of \(team.paths.joined(separator: ", ")), which no client finds: \(first.path.excerpt)",
                at: team.role.name,
                remedy: "let the team rename or remove what is there, or add its paths in vault.json")
        }
    }

    fileprivate func keyMismatch(of count: Int, _ first: PackID, _ tag: String) -> Finding {
        .warning(
            "team-keys",
            count == 1
                ? "the pack '\(first)' of the team '\(team.role)' has the granted tag '\(tag)', but is sealed for other keys than the site's packs of it: clients without its key can't begin '\(tag)'"
                : "\(count.counting("pack")) of the team '\(team.role)' have the granted tag '\(tag)', but are sealed for other keys than the site's packs of it: clients without their keys can't begin '\(tag)'; '\(first)' is the first",
            at: team.role.name,
            remedy:
                "let the team seal for a key of the site's packs, or remove the tag from \"tags\" of the team in vault.json"
        )
    }
}

extension VaultSettings {
    /// Opaque names do not hide the tags that teams have.
    var readableTags: Finding? {
        let teams = structure.teams.filter { !$0.tags.isEmpty }
        guard hasOpaqueNames, !teams.isEmpty else { return nil }
        let tags = Set(teams.flatMap(\.tags)).sorted().map { "'\($0.excerpt)'" }.listed(upTo: 4)
        return .warning(
            "readable-tags",
            "everybody can read the tags that \"teams\" grants, and those of the teams' packs: \(tags)",
            at: "teams", remedy: "\"opaqueNames\" hides the site's own")
    }
}

/// The vault keys for which a site's own packs are sealed, by their tags.
struct TagKeys {
    /// Nil where the keys of some pack are unknown.
    private var keys: [String: Set<KeyID>?] = [:]

    /// Nil for a tag that no own pack has, and where keys are unknown.
    subscript(tag: String) -> Set<KeyID>? { keys[tag] ?? nil }

    /// Those of sealed packs.
    init(of packs: [PackManifest]) {
        for pack in packs { add(pack.tags, Set(pack.slots.map(\.keyID))) }
    }

    /// Those for which packs will be sealed. Keys are read only for packs with one of some tags: a source of keys may ask the user.
    init(
        of packs: [ContentPlan.Pack], with tags: Set<String>, for authorKeys: AuthorKeys
    ) async {
        var known: [[String]: Set<KeyID>?] = [:]
        for pack in packs where !tags.isDisjoint(with: pack.offer.tags) {
            let names = pack.audiences
            if known[names] == nil {
                let found = try? await authorKeys.recipients(names).allKeys()
                known[names] = .some(found.map { Set($0.vaultKeys.map(\.id)) })
            }
            add(pack.offer.tags, known[names] ?? nil)
        }
    }

    private mutating func add(_ tags: [String], _ ids: Set<KeyID>?) {
        for tag in tags {
            guard let before = keys[tag] else {
                keys[tag] = .some(ids)
                continue
            }
            keys[tag] = .some(before.flatMap { before in ids.map { before.union($0) } })
        }
    }
}
