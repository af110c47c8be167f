/// A role to visit, and its delegator.
struct DelegationStep: Sendable, Hashable {
    let delegation: Delegation
    let delegator: MetadataRole

    /// Hashes the names only, which is fast; equality includes the keys.
    func hash(into hasher: inout Hasher) {
        hasher.combine(delegation.role)
        hasher.combine(delegator)
    }
}

extension VerifiedTargets {
    /// The roles that it delegates to.
    var delegationSteps: [DelegationStep] {
        (delegations?.all ?? []).map { DelegationStep(delegation: $0, delegator: document.role) }
    }
}
