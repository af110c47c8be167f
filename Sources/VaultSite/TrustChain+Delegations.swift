public import UpdateFramework

extension TrustChain {
    /// Whether it delegates to the same teams as an earlier state of the site, in the same order, for the same paths and tags, and
    /// to all keys that signed for the site itself then. Otherwise the earlier state would let a revoked signer decide.
    public func hasTheDelegations(of earlier: TrustChain) -> Bool {
        earlier.teamDelegations == teamDelegations && earlier.ownTrusts.isSubset(of: ownTrusts)
    }

    private var teamDelegations: [Delegation] {
        (targets.delegations?.all ?? []).filter { !OwnRoles.contains($0.role) }
    }

    private var ownTrusts: Set<RoleTrust> {
        Set((targets.delegations?.all ?? []).filter { OwnRoles.contains($0.role) }.map(\.trust))
    }
}
