import StrictJSON
import VaultErrors

/// A tag that the settings of a resource tree name, and where: a misspelt one would change nothing.
struct NamedTag: Sendable {
    let tag: String
    /// `initial`, `prefetch` or `preservation`.
    let member: String
    let json: LocatedJSON

    /// - Parameter tree: the members were parsed before.
    static func all(in tree: LocatedJSON) throws(VaultError) -> [NamedTag] {
        var found: [NamedTag] = []
        for member in ["initial", "prefetch"] {
            for element in try tree[member]?.elements() ?? [] {
                found.append(NamedTag(tag: try element.string(), member: member, json: element))
            }
        }
        for member in try tree["preservation"]?.members() ?? [] {
            found.append(NamedTag(tag: member.name, member: "preservation", json: member.key))
        }
        return found
    }
}
