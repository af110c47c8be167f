import SystemPackage
import UpdateFramework
import VaultErrors

/// The root that is to follow the published one: what waits in `pending/`, or the same once more before it expires.
struct RootRenewal {
    let root: VerifiedRoot
    let signing: MetadataSigning

    struct Outcome {
        /// Complete, with a threshold of signatures of the old keys and of the new ones.
        var successor: SignedMetadata?
        var warnings: [String] = []
    }

    /// Throws `key` when the root has expired and can't be signed.
    func run() throws(VaultError) -> Outcome {
        let pending = signing.pending
        if let waiting = try pending.file(of: .root) {
            guard waiting.document.version == root.version + 1 else {
                try pending.remove(.root)
                return try run()
            }
            let trusts = try trusts(of: waiting)
            let file = try signing.keys.sign(SignedMetadata(waiting), for: trusts)
                .keeping(onlyValidSignaturesOf: trusts.flatMap(\.keys))
            if try isComplete(file) { return Outcome(successor: file) }
            try pending.write(file)
            return try self.waiting(file)
        }
        guard signing.period.isDue(.root, expiring: root.expires) else { return Outcome() }
        let file = try renewed()
        if try isComplete(file) { return Outcome(successor: file) }
        try pending.write(file)
        return try self.waiting(file)
    }

    /// Whether clients of the published root believe it.
    private func isComplete(_ file: SignedMetadata) throws(VaultError) -> Bool {
        let metadata = try file.unverified
        return (try? root.successor(verifying: metadata)) != nil
    }

    /// Signs a root with the keys at hand that either root names for it.
    private func sign(_ file: SignedMetadata) throws(VaultError) -> SignedMetadata {
        try signing.keys.sign(file, for: trusts(of: try file.unverified))
    }

    private func trusts(of next: UnverifiedMetadata) throws(VaultError) -> [RoleTrust] {
        [root.trust(in: .root), try next.rootTrust(in: .root)]
    }

    private func renewed() throws(VaultError) -> SignedMetadata {
        var roles: [TopLevelRole: RoleTrust] = [:]
        for role in TopLevelRole.allCases { roles[role] = root.trust(in: role) }
        return try next(naming: roles)
    }

    /// The root that follows the published one, signed with the keys at hand.
    func next(naming roles: [TopLevelRole: RoleTrust]) throws(VaultError) -> SignedMetadata {
        try sign(
            SignedMetadata(
                try .root(
                    version: root.version + 1, expires: signing.period.expiry(of: .root), roles: roles,
                    carrying: root.json)))
    }

    private func waiting(_ file: SignedMetadata) throws(VaultError) -> Outcome {
        let path = signing.pending.path(of: file).string
        guard signing.period.now < root.expires else {
            throw signing.keys.failure(
                for: .root, namedBy: "root version \(root.version)",
                remedy:
                    "the root has expired: sign \(path) where its key is kept ('assetvault trust sign'), then publish again"
            )
        }
        return Outcome(warnings: [
            "\(path) waits for signatures: sign it where the keys of the root are kept ('assetvault trust sign'), then"
                + " publish again; the root expires at \(root.expires)"
        ])
    }
}
