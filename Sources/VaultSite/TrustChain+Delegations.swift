public import UpdateFramework

extension TrustChain {
    /// Whether it delegates to the same teams as an earlier state of the site, in the same order, for the same paths and tags, and
    /// to all keys that signed for the site itself then. Else somebody who may sign no more would decide by the earlier state.
    public func hasTheDelegations(of earlier: TrustChain) -> Bool {
        let (present, former) = (targets.delegations?.all ?? [], earlier.targets.delegations?.all ?? [])
        let own = Set(present.filter { OwnRoles.contains($0.role) }.map(\.trust))
        return former.filter { !OwnRoles.contains($0.role) } == present.filter { !OwnRoles.contains($0.role) }
            && former.allSatisfy { !OwnRoles.contains($0.role) || own.contains($0.trust) }
    }
}
