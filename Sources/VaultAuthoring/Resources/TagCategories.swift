import SealedPack
import StrictJSON
import VaultErrors

/// When the packs of a tag are fetched: with the installation, afterwards in the listed order, or on demand, as all others.
struct TagCategories: Sendable {
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

    /// What a pack with these tags is: the strongest category counts, and of prefetched ones the first.
    func category(of tags: [String]) -> (policy: PackPolicy, order: Int64) {
        if tags.contains(where: initial.contains) { return (.essential, 0) }
        if let first = tags.compactMap({ prefetched[$0] }).min() { return (.prefetch, first) }
        return (.onDemand, 0)
    }
}
