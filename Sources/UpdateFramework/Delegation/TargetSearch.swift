import VaultErrors

/// One path's way through the delegations: before its children a role itself, the first that lists the path decides
/// (section 5.6.7). Whoever searches gets the roles that it asks for, wherever they come from.
struct TargetSearch {
    /// So many delegated roles are visited for one path.
    static let visitLimit = 32

    private let path: TargetPath
    /// What is to be visited, the next one last.
    private var pending: [Step] = []
    private var visited: Set<MetadataRole> = []
    private(set) var found: TargetRecord?

    /// A role to visit, and who delegates to it.
    struct Step: Sendable, Hashable {
        let delegation: Delegation
        let delegator: MetadataRole

        /// By the names alone, which is fast; the keys count in comparisons.
        func hash(into hasher: inout Hasher) {
            hasher.combine(delegation.role)
            hasher.combine(delegator)
        }
    }

    init(for path: String, in targets: VerifiedTargets) {
        self.path = TargetPath(path)
        visit(targets)
    }

    /// The next role to visit; nil when the search has ended.
    mutating func next() throws(VaultError) -> Step? {
        guard found == nil else { return nil }
        while let step = pending.popLast() {
            // Whoever was searched once has nothing new to say: cycles end here.
            guard visited.insert(step.delegation.role).inserted else { continue }
            guard visited.count <= Self.visitLimit else {
                throw .untrusted(
                    "more than \(Self.visitLimit) delegated roles would have to be searched",
                    at: "target \(path.text.beginning)")
            }
            return step
        }
        return nil
    }

    mutating func visit(_ targets: VerifiedTargets) {
        found = targets[path.text]
        guard found == nil, let next = targets.delegations?.covering(path) else { return }
        if next.last?.isTerminating == true { pending = [] }
        pending += next.reversed().map { Step(delegation: $0, delegator: targets.document.role) }
    }
}
