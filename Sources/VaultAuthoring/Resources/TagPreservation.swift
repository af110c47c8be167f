import SealedPack
import StrictJSON
import VaultErrors

/// How long the packs of tags stay when disk space is needed, from 0 to 100: those with less go first. An app may change it.
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
