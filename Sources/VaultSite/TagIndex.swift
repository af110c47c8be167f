import SealedPack
public import UpdateFramework
public import VaultBase

/// Which packs have a tag, signed in the hash bins of a large site: a request for a tag reads its bin and those of its packs,
/// not all. The bin of a tag is that of the path `tags/TAG`. In a bin's signed part the member `x-tags` holds the tags by name,
/// each with the target paths of its packs; other TUF clients ignore it.
public enum TagIndex {
    /// The member of a bin's signed part.
    public static let member = "x-tags"

    public static func path(of tag: String) -> String { "tags/\(tag)" }

    /// The tags of packs, with the paths of these, both sorted. A pack has the tags of all its listed versions, and one of a later
    /// format those that it states: the index is complete also for newer releases, and older ones learn that they can't read it.
    public static func tags(of records: [TargetRecord]) -> [(tag: String, paths: [String])] {
        var paths: [String: Set<String>] = [:]
        for record in records {
            guard PackID(targetPath: record.path) != nil else { continue }
            for tag in record.eachVersion.flatMap({ $0.statedTags ?? [] }) where PackOffer.isWord(tag) {
                paths[tag, default: []].insert(record.path)
            }
        }
        return paths.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    public static func json(of tags: [(tag: String, paths: [String])]) -> JSONValue {
        .object(JSONObject(lastWins: tags.map { ($0.tag, .array($0.paths.map { .string($0) })) }))
    }

    /// The paths of a tag's packs, by the roles that the look-up of its path visits; empty for an unknown tag. Nil for a site
    /// without an index.
    public static func paths(of tag: String, in roles: [VerifiedTargets]) -> [String]? {
        for role in roles where OwnRoles.contains(role.document.role) {
            guard case .object(let tags)? = role.document.signed[member] else { continue }
            guard case .array(let paths)? = tags[tag] else { return [] }
            return paths.compactMap {
                guard case .string(let path) = $0 else { return nil }
                return path
            }
        }
        return nil
    }
}
