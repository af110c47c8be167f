import SealedPack
import VaultBase

/// When the packs of a tag are fetched: with the installation, afterwards in the listed order, or on demand, as all others.
struct TagPolicies: Sendable {
    private let initial: Set<String>
    /// Positions in the list.
    private let prefetched: [String: Int64]

    /// The members `initial` and `prefetch`, lists of tags.
    init(parsing json: LocatedJSON) throws(VaultError) {
        let initial = try PackOffer.tags(in: "initial", of: json)
        let prefetched = try PackOffer.tags(in: "prefetch", of: json)
        if let tag = prefetched.first(where: initial.contains), let list = try json["prefetch"] {
            throw list.error(
                .usage, "the tag '\(tag)' is both in \"initial\" and in \"prefetch\"",
                remedy: "name it in one of them")
        }
        self.initial = Set(initial)
        self.prefetched = Dictionary(
            uniqueKeysWithValues: prefetched.enumerated().map { ($0.element, Int64($0.offset)) })
    }

    /// The category of a pack with these tags: the strongest counts, and of prefetched ones the first.
    func category(of tags: [String]) -> (policy: PackPolicy, order: Int64) {
        if tags.contains(where: initial.contains) { return (.essential, 0) }
        if let first = tags.compactMap({ prefetched[$0] }).min() { return (.prefetch, first) }
        return (.onDemand, 0)
    }
}

/// How long the packs of tags stay when disk space is needed, from 0 to 100: those with less are removed first. An app may change
/// it.
struct TagPreservation: Sendable {
    private let priorities: [String: Int64]

    /// The member `preservation`, numbers by tag.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        var priorities: [String: Int64] = [:]
        for tag in try json?.members() ?? [] {
            let number = try tag.value.integer()
            guard (0...100).contains(number) else {
                throw tag.value.error(
                    .usage, "the preservation of '\(tag.name.excerpt)' is \(number)", remedy: "use 0 to 100")
            }
            priorities[tag.name] = number
        }
        self.priorities = priorities
    }

    /// Of a pack the highest of its tags.
    func priority(of tags: [String]) -> Int64 {
        tags.map { priorities[$0] ?? PackOffer.standardPreservation }.max() ?? PackOffer.standardPreservation
    }

    /// Whether all tags have the highest priority, so that none of them has.
    func isFull(for tags: Set<String>) -> Bool { !tags.isEmpty && tags.allSatisfy { priorities[$0] == 100 } }
}

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
