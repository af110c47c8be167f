public import UpdateFramework

/// The keys whose signatures authorize what a site listed at any time: those that any of its roots named for the
/// targets, and those of each team for the team's paths. Unsigned files in the metadata folder are ignored.
public struct PackSigners: Sendable {
    private let own: [RoleTrust]
    private let teams: [MetadataRole: Delegation]

    /// - Parameter roots: all roots of the site, the newest included.
    public init(under roots: [VerifiedRoot], of tree: TargetTree) {
        own = roots.map { $0.trust(in: .targets) }
        let delegations = (tree.chain.targets.delegations?.all ?? []).filter { !OwnRoles.contains($0.role) }
        teams = Dictionary(delegations.map { ($0.role, $0) }) { first, _ in first }
    }

    public func authorize(_ record: TargetRecord, in metadata: UnverifiedMetadata) -> Bool {
        if let team = teams[metadata.document.role] {
            return team.covers(record.path) && team.trust.isMet(by: metadata)
        }
        return own.contains { $0.isMet(by: metadata) }
    }
}
