public import UpdateFramework
public import VaultBase

/// Who signs for a site, which versions are published, and when they expire.
public struct TrustSummary: Sendable {
    public struct Role: Sendable {
        public let role: MetadataRole
        public let version: Int64
        public let expires: UTCTime
        /// Whole days until it expires; negative when it has.
        public let daysLeft: Int64
        public let hasExpired: Bool
        /// Whether it has expired or soon does.
        public let isDue: Bool
        public let trust: RoleTrust
        /// Patterns of the tags that a team's packs may have; nil for the site's own roles.
        public let grantedTags: [String]?

        /// Nil while there is time.
        public var warning: Finding? {
            guard isDue else { return nil }
            return hasExpired
                ? .warning(
                    "expired", "\(role) version \(version) expired at \(expires)", at: role.fileName,
                    remedy: "check this machine's clock; if it is right, publish: clients accept nothing new")
                : .warning(
                    "expires-soon",
                    "\(role) version \(version) expires at \(expires), in \(Int(clamping: daysLeft).counting("day"))",
                    at: role.fileName, remedy: "publish before then, or clients accept nothing new")
        }
    }

    public let roles: [Role]
    /// Work that the user should do soon.
    public let warnings: [Finding]

    /// - Parameter expiryNotice: a role is due within this number of days; nil for less than a quarter of its period.
    public init(
        of tree: TargetTree, lifetime: MetadataLifetime = MetadataLifetime(), expiryNotice: Int? = nil,
        now: UTCTime
    ) {
        let chain = tree.chain
        func role(
            _ metadata: some VerifiedMetadata, _ trust: RoleTrust, grantedTags: [String]? = nil
        ) -> Role {
            let role = metadata.document.role
            return Role(
                role: role, version: metadata.version, expires: metadata.expires,
                daysLeft: (metadata.expires.secondsSince1970 - now.secondsSince1970) / 86_400,
                hasExpired: metadata.expires <= now,
                isDue: expiryNotice.map { metadata.expires <= now.adding(days: $0) }
                    ?? lifetime.isRenewalDue(of: role, expiring: metadata.expires, at: now),
                trust: trust, grantedTags: grantedTags)
        }
        var roles = [
            role(chain.root, chain.root.trust(in: .root)),
            role(chain.timestamp, chain.root.trust(in: .timestamp)),
            role(chain.snapshot, chain.root.trust(in: .snapshot)),
            role(chain.targets, chain.root.trust(in: .targets)),
        ]
        let delegated = Dictionary(tree.delegatedRoles.map { ($0.document.role, $0) }) { first, _ in first }
        for parent in tree.targetsRoles {
            for delegation in parent.delegations?.all ?? [] {
                guard let metadata = delegated[delegation.role] else { continue }
                let tags = TagGrants.patterns(ofTagsGrantedBy: delegation)
                roles.append(role(metadata, delegation.trust, grantedTags: tags))
            }
        }
        self.roles = roles
        warnings =
            roles.compactMap(\.warning)
            + tree.refusals.map {
                Finding(
                    $0.error.with(problem: "\($0.role) is not trusted: \($0.error.problem)"), as: .warning,
                    at: $0.role.name)
            }
    }
}
