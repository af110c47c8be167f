import SealedPack
public import UpdateFramework
public import VaultBase

/// Whose packs may have which tags, and whose come first: a site's own packs have all of theirs, those of a team the tags that
/// the site grants to it. A tag without a grant counts for nothing, so no team decides what a tag of the site holds.
public struct TagGrants: Sendable {
    private struct Team {
        /// From 1.
        let rank: Int
        let patterns: [PathPattern]
    }

    /// The member of a team's delegation that holds patterns of tags; without it none is granted.
    public static let member = "x-tags"

    private let teams: [MetadataRole: Team]

    /// - Parameter delegations: of the top-level targets, in their order; those to the site's own roles are ignored.
    public init(to delegations: [Delegation]) {
        let found = delegations.filter { !OwnRoles.contains($0.role) }.enumerated().map { index, team in
            (
                team.role,
                Team(rank: index + 1, patterns: Self.patterns(in: team.members).map { PathPattern($0) })
            )
        }
        teams = Dictionary(found) { first, _ in first }
    }

    public init(in chain: TrustChain) { self.init(to: chain.targets.allDelegations) }

    /// The members of a team's delegation.
    public static func members(granting patterns: [String]) -> JSONObject {
        patterns.isEmpty ? [:] : [member: .array(patterns.map(JSONValue.string))]
    }

    /// Patterns of the tags that a delegation grants; nil for one to the site's own roles, which have all.
    public static func patterns(ofTagsGrantedBy delegation: Delegation) -> [String]? {
        OwnRoles.contains(delegation.role) ? nil : patterns(in: delegation.members)
    }

    /// Anything but a list of texts grants nothing.
    private static func patterns(in members: JSONObject) -> [String] {
        members[member]?.texts ?? []
    }

    /// Packs of a lower rank come first among those of a tag: 0 for the site's own, then the teams in the order of their delegations.
    public func rank(of signer: MetadataRole?) -> Int {
        isOwn(signer) ? 0 : signer.flatMap { teams[$0]?.rank } ?? .max
    }

    /// Whether the packs of a role may have a tag.
    public func allow(_ tag: String, to signer: MetadataRole?) -> Bool {
        isOwn(signer) || signer.flatMap { teams[$0] }?.patterns.contains { $0.matches(tag) } ?? false
    }

    /// Whether a role is a team's whose packs may have none of some tags.
    fileprivate func allowNone(of tags: Set<String>, to role: MetadataRole) -> Bool {
        !OwnRoles.contains(role) && !tags.contains { allow($0, to: role) }
    }

    private func isOwn(_ signer: MetadataRole?) -> Bool {
        signer.map { $0 == .targets || OwnRoles.contains($0) } ?? false
    }
}

extension PackManifest {
    /// The same with only those tags that its signer may give.
    func granted(by grants: TagGrants, to signer: MetadataRole?) -> PackManifest {
        var pack = self
        pack.offer.tags = tags.filter { grants.allow($0, to: signer) }
        pack.offer.withheldTags = tags.filter { !grants.allow($0, to: signer) }
        return pack
    }
}

extension TrustChain {
    /// The chain without teams whose packs can't have any of these tags: what they list, or fail to list, decides nothing about them.
    public func hidingTeams(withoutGrantOf tags: Set<String>) -> TrustChain {
        let grants = TagGrants(in: self)
        return hidingRoles { grants.allowNone(of: tags, to: $0) }
    }

    /// What ``hidingTeams(withoutGrantOf:)`` leaves, without records for paths of a hidden team that comes before their signer: by its ID
    /// such a pack is the hidden team's.
    public func decided(_ records: [TargetRecord], withoutGrantOf tags: Set<String>) -> [TargetRecord] {
        let grants = TagGrants(in: self)
        let hidden = targets.allDelegations.filter { grants.allowNone(of: tags, to: $0.role) }
        guard !hidden.isEmpty else { return records }
        return records.filter { record in
            let rank = grants.rank(of: record.signer)
            return rank == 0
                || !hidden.contains { grants.rank(of: $0.role) < rank && $0.covers(record.path) }
        }
    }
}
