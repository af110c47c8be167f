import UpdateFramework
import VaultBase
import VaultCrypto

/// The published root, and the one that is to follow it: what waits in `pending/`, or the same content before it expires.
struct RootRenewal {
    let root: VerifiedRoot
    var signing: MetadataSigning
    /// The root in `pending/`, read once.
    private(set) var pendingRoot: UnverifiedMetadata?

    init(of root: VerifiedRoot, with signing: MetadataSigning) throws(VaultError) {
        self.root = root
        self.signing = signing
        pendingRoot = try signing.pending.file(of: .root)
        if pendingRoot?.document.version != root.version + 1 { pendingRoot = nil }
    }

    /// Nil while the published root stays. What is signed has a threshold of signatures of the old keys and of the new ones.
    ///
    /// - Throws: `key` when the root has expired and can't be signed.
    func run() throws(VaultError) -> SigningOutcome? {
        if pendingRoot == nil { try signing.pending.remove(.root) }
        guard let file = try next() else { return nil }
        let metadata = try file.unverified
        if (try? root.successor(verifying: metadata)) != nil { return .signed(file) }
        let outcome = try signing.wait(file, for: trusts(of: metadata))
        guard case .pending(let file) = outcome, signing.period.now >= root.expires else { return outcome }
        throw signing.keys.failure(
            for: .root, delegatedBy: "root version \(root.version)",
            remedy:
                "the root has expired: sign \(file.path) where its key is kept, then publish again",
            hint: .signing
        )
    }

    /// The root that follows, with the signatures of the keys at hand; nil while the published one stays.
    func next() throws(VaultError) -> SignedMetadata? {
        if let pendingRoot {
            return try signing.adding(signaturesFor: trusts(of: pendingRoot), to: pendingRoot)
        }
        guard signing.period.isDue(.root, expiring: root.expires) else { return nil }
        return try next(
            naming: Dictionary(uniqueKeysWithValues: TopLevelRole.allCases.map { ($0, root.trust(in: $0)) }))
    }

    /// Writes the root that follows the published one with this change, on top of changes that wait already. A change that
    /// waits itself, after an attempt that did not end, stays as it is.
    mutating func change(_ change: RootChange) throws(VaultError) {
        var roles: [TopLevelRole: RoleTrust] = [:]
        for role in TopLevelRole.allCases { roles[role] = try nextTrust(in: role) }
        if let trust = roles[change.role] {
            let waits = change.isInEffect(in: trust) && !change.isInEffect(in: root.trust(in: change.role))
            if !waits { roles[change.role] = try change.applied(to: trust) }
        }
        let file = try next(naming: roles)
        try signing.pending.write(file)
        pendingRoot = try file.unverified
    }

    /// With what waits already.
    func nextTrust(in role: TopLevelRole) throws(VaultError) -> RoleTrust {
        try pendingRoot?.rootTrust(in: role) ?? root.trust(in: role)
    }

    /// Whether the root that waits names a key for a role that the published one does not.
    func waits(for key: VerifyingKey, in role: TopLevelRole) throws(VaultError) -> Bool {
        guard !root.trust(in: role).keys.contains(where: { $0.key == key }), let pendingRoot else {
            return false
        }
        return try pendingRoot.rootTrust(in: role).keys.contains { $0.key == key }
    }

    private func trusts(of next: UnverifiedMetadata) throws(VaultError) -> [RoleTrust] {
        [root.trust(in: .root), try next.rootTrust(in: .root)]
    }

    /// The root that follows the published one, signed with the keys at hand that either names.
    private func next(naming roles: [TopLevelRole: RoleTrust]) throws(VaultError) -> SignedMetadata {
        let file = SignedMetadata(
            try .root(
                version: root.version + 1, expires: signing.period.expiry(of: .root), roles: roles,
                keepingMembersOf: root.json))
        return try signing.keys.sign(file, for: trusts(of: try file.unverified))
    }
}
