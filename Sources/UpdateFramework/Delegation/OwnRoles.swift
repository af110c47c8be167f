/// The delegated roles that a site's own vault signs, by their names; those with other names are teams'.
public enum OwnRoles {
    /// Lists what is live, where the top-level targets don't.
    public static let live = MetadataRole(delegated: "packs") ?? .targets
    /// What the name of another channel's role begins with.
    public static let channelPrefix = "channel."

    /// Whether it lists a channel, or is one of the bins of such a list.
    public static func contains(_ role: MetadataRole) -> Bool {
        role == live || role.name.hasPrefix("\(live.name)-") || role.name.hasPrefix(channelPrefix)
    }
}

extension TrustChain {
    /// Whether it delegates to the same teams as an earlier state of the site, in the same order, for the same paths and tags, and
    /// to all keys that signed for the site itself then. Otherwise the earlier state would let a revoked signer decide.
    public func hasTheDelegations(of earlier: TrustChain) -> Bool {
        earlier.teamDelegations == teamDelegations && earlier.ownTrusts.isSubset(of: ownTrusts)
    }

    /// The delegations to teams, in their order; the site's own roles are left out.
    public var teamDelegations: [Delegation] {
        targets.allDelegations.filter { !OwnRoles.contains($0.role) }
    }

    private var ownTrusts: Set<RoleTrust> {
        Set(targets.allDelegations.filter { OwnRoles.contains($0.role) }.map(\.trust))
    }
}

/// The keys whose signatures authorize what a site listed at any time: those that any of its roots named for the
/// targets, and those of each team for the team's paths. Unsigned files in the metadata folder are ignored.
public struct PackSigners: Sendable {
    private let own: [RoleTrust]
    private let teams: [MetadataRole: Delegation]

    /// - Parameter roots: all roots of the site, the newest included.
    public init(under roots: [VerifiedRoot], of tree: TargetTree) {
        own = roots.map { $0.trust(in: .targets) }
        teams = Dictionary(tree.chain.teamDelegations.map { ($0.role, $0) }) { first, _ in first }
    }

    public func authorize(_ record: TargetRecord, in metadata: UnverifiedMetadata) -> Bool {
        if let team = teams[metadata.document.role] {
            return team.covers(record.path) && team.trust.isMet(by: metadata)
        }
        return own.contains { $0.isMet(by: metadata) }
    }
}
