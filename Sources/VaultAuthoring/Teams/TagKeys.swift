import SealedPack
import VaultErrors
import VaultKeys

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

    /// Those for which packs will be sealed. Keys are read only for packs with one of some tags: a source of keys may ask somebody.
    init(
        of packs: [ContentPlan.Pack], with tags: Set<String>, for audiences: Audiences,
        vaultKeys: any KeyProvider
    ) async {
        var known: [[String]: Set<KeyID>?] = [:]
        for pack in packs where !tags.isDisjoint(with: pack.offer.tags) {
            let names = pack.audiences
            if known[names] == nil {
                let found = try? await (names.isEmpty ? vaultKeys : audiences.keys(of: names)).allKeys()
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
