import VaultErrors

extension TrustChain {
    /// The same metadata without some of the roles that the top-level targets delegate to. Used to see the site as a client
    /// of one channel does.
    public func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> TrustChain {
        TrustChain(
            root: root, timestamp: timestamp, snapshot: snapshot,
            targets: targets.hidingRoles(where: isHidden),
            isContested: isContested)
    }
}

extension TargetTree {
    /// The same metadata without some of the roles that the top-level targets delegate to. Used to see the site as a client
    /// of one channel does.
    public func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> TargetTree {
        let chain = chain.hidingRoles(where: isHidden)
        var reached: [DelegationStep: Result<VerifiedTargets, VaultError>] = [:]
        var pending = chain.targets.delegationSteps
        while let step = pending.popLast() {
            guard reached[step] == nil, let role = roles[step] else { continue }
            reached[step] = role
            if case .success(let targets) = role { pending += targets.delegationSteps }
        }
        return TargetTree(chain, roles: reached)
    }
}
