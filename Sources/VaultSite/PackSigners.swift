public import UpdateFramework

/// Whose word counts for what a site has listed at any time: that of the keys that its roots named for the targets, and of
/// each team for its own paths. Anything else that lies among the metadata, whoever put it there, says nothing.
public struct PackSigners: Sendable {
    private let own: [RoleTrust]
    private let teams: [MetadataRole: Delegation]

    /// - Parameter roots: all that there were, the newest included.
    public init(under roots: [VerifiedRoot], of tree: TargetTree) {
        own = roots.map { $0.trust(in: .targets) }
        let delegations = (tree.chain.targets.delegations?.all ?? []).filter { !OwnBins.contains($0.role) }
        teams = Dictionary(delegations.map { ($0.role, $0) }) { first, _ in first }
    }

    public func speak(for record: TargetRecord, in metadata: UnverifiedMetadata) -> Bool {
        if let team = teams[metadata.document.role] {
            return team.covers(record.path) && team.trust.isMet(by: metadata)
        }
        return own.contains { $0.isMet(by: metadata) }
    }
}
