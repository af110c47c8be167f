import VaultErrors

extension VerifiedTargets {
    /// The roles that it delegates to.
    var steps: [TargetSearch.Step] {
        (delegations?.all ?? []).map { TargetSearch.Step(delegation: $0, delegator: document.role) }
    }
}

extension TrustChain {
    /// The same metadata for a reader who ignores some of the roles that the top-level targets delegate to.
    public func ignoring(_ isIgnored: (MetadataRole) -> Bool) -> TrustChain {
        TrustChain(
            root: root, timestamp: timestamp, snapshot: snapshot, targets: targets.ignoring(isIgnored),
            isContested: isContested)
    }
}

extension TargetTree {
    /// The same metadata for a reader who ignores some of the roles that the top-level targets delegate to.
    public func ignoring(_ isIgnored: (MetadataRole) -> Bool) -> TargetTree {
        let chain = chain.ignoring(isIgnored)
        var reached: [TargetSearch.Step: Result<VerifiedTargets, VaultError>] = [:]
        var pending = chain.targets.steps
        while let step = pending.popLast() {
            guard reached[step] == nil, let role = roles[step] else { continue }
            reached[step] = role
            if case .success(let targets) = role { pending += targets.steps }
        }
        return TargetTree(chain, roles: reached)
    }
}
