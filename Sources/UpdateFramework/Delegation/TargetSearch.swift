import VaultErrors

/// The search for one path through the delegations, in pre-order: the first role that lists the path decides (section
/// 5.6.7). The caller reads the roles that it requests.
struct TargetSearch {
    /// The maximum number of delegated roles visited for one path.
    static let visitLimit = 32

    private let path: TargetPath
    /// The roles to visit, the next one last.
    private var pending: [(step: DelegationStep, signer: MetadataRole)] = []
    /// See ``TargetRecord/signer``; nil while the top-level targets are visited.
    private var signer: MetadataRole?
    private var visited: Set<MetadataRole> = []
    private(set) var found: TargetRecord?

    init(for path: String, in targets: VerifiedTargets) {
        self.path = TargetPath(path)
        visit(targets)
    }

    /// The next role to visit; nil when the search has ended.
    mutating func next() throws(VaultError) -> DelegationStep? {
        guard found == nil else { return nil }
        while let (step, signer) = pending.popLast() {
            // Skips visited roles, which ends cycles.
            guard visited.insert(step.delegation.role).inserted else { continue }
            guard visited.count <= Self.visitLimit else {
                throw .malformedMetadata(
                    "the search needs more than \(Self.visitLimit) delegated roles",
                    at: "target \(path.text.excerpt)")
            }
            self.signer = signer
            return step
        }
        return nil
    }

    mutating func visit(_ targets: VerifiedTargets) {
        found = targets[path.text]
        found?.signer = signer ?? .targets
        guard found == nil, let next = targets.delegations?.covering(path) else { return }
        if next.last?.isTerminating == true { pending = [] }
        pending += next.reversed().map {
            (DelegationStep(delegation: $0, delegator: targets.document.role), signer ?? $0.role)
        }
    }
}
