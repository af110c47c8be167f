import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
import VaultSite

/// Changes the signing keys of a vault's site, in an order that locks no client out: metadata that old and new keys signed first,
/// then the root that names the new keys; the next publication drops the old signatures.
public struct TrustChange: Sendable {
    private let vault: VaultFolder
    private let request: AuthorRequest

    public init(of vault: VaultFolder, _ request: AuthorRequest) {
        (self.vault, self.request) = (vault, request)
    }

    /// Writes the next root, and publishes it if the keys at hand suffice; else it waits in `pending/`.
    public func apply(_ change: RootChange) async throws(VaultError) -> MetadataReport {
        try await publish(.root(change))
    }

    /// Replaces the key in the role's own file by a new one. The old file stays, under the beginning of its key's ID:
    /// its key is needed until the next root is published.
    public func rotate(_ role: TopLevelRole) async throws(VaultError) -> MetadataReport {
        try await publish(.rotation(role))
    }

    /// Publishes the site as it is listed, after a change of the root.
    private func publish(_ change: ProposedChange.KeyChange) async throws(VaultError) -> MetadataReport {
        try await vault.carryOut(request) { session, output async throws(VaultError) in
            _ = try site(of: session)
            var report = try await session.publish(
                ProposedChange(deliveries: session.deliveries(), keys: change), into: output)
            report.warnings += session.warnings
            return report
        }
    }

    /// Signs a new timestamp over the published snapshot, before the old one expires.
    ///
    /// - Throws: `untrusted` for a host whose timestamp, snapshot or root has expired: its state may be an old one, and nothing else about it
    ///   is looked at here.
    public func refresh() async throws(VaultError) -> MetadataReport {
        try request.requireRealRun("a new timestamp")
        return try await vault.withSession(request) { session async throws(VaultError) in
            let site = try site(of: session)
            guard let tree = site.tree else { throw session.vault.nothingPublished }
            try session.host?.requireUnexpired(
                "a new timestamp would make that the newest",
                remedy: HostedSite.withoutHost)
            let signing = try MetadataSigning(for: session)
            try session.host?.requireNewestRoot(
                naming: signing.keys, orWaiting: RootRenewal(of: site.root, with: signing).pendingRoot,
                orAdding: nil)
            try await session.host?.requireUnchanged()
            try session.host?.removeSuperseded()
            let renewal = SiteRenewal(
                current: tree, root: site.root, successor: nil, signing: signing)
            let file = try renewal.timestamp(over: tree.chain.snapshot.reference)
            try vault.remember(try await session.write([file], now: request.now))
            let summary = TrustSummary(of: tree, lifetime: session.settings.lifetime, now: request.now)
            return MetadataReport(
                written: [file.hostedName],
                warnings: session.warnings
                    + summary.roles.filter { $0.role != .timestamp }.compactMap(\.warning))
        }
    }

    private func site(of session: AuthorSession) throws(VaultError) -> CurrentSite {
        if let site = session.published.site { return site }
        throw VaultError(
            .usage, "a team's vault has no root", at: vault.path.string,
            remedy: "change the team's keys where its packs are listed")
    }
}

/// A change of the keys in the next root.
public enum RootChange: Sendable {
    case addKey(VerifyingKey, to: TopLevelRole)
    /// By at least 8 digits of its ID.
    case removeKey(String, from: TopLevelRole)
    case threshold(Int, of: TopLevelRole)
    case replaceKey(VerifyingKey, by: VerifyingKey, in: TopLevelRole)

    var role: TopLevelRole {
        switch self {
        case .addKey(_, let role), .removeKey(_, let role), .threshold(_, let role),
            .replaceKey(_, _, let role):
            role
        }
    }

    /// The key that the root will name.
    var addedKey: VerifyingKey? {
        if case .addKey(let key, _) = self { key } else { nil }
    }

    /// Whether the role's keys and threshold are already so.
    func isInEffect(in trust: RoleTrust) -> Bool {
        switch self {
        case .addKey(let key, _): trust.keys.contains { $0.key == key }
        case .removeKey(let prefix, _): !trust.keys.contains { $0.id.description.hasPrefix(prefix) }
        case .threshold(let threshold, _): trust.threshold == threshold
        case .replaceKey(let old, let new, _):
            trust.keys.contains { $0.key == new } && !trust.keys.contains { $0.key == old }
        }
    }

    /// The role's trust with the change. Throws `usage` for an impossible change, such as a threshold above the number of keys.
    func applied(to trust: RoleTrust) throws(VaultError) -> RoleTrust {
        var (keys, threshold) = (trust.keys, trust.threshold)
        switch self {
        case .addKey(let key, _):
            guard !trust.keys.contains(where: { $0.key == key }) else {
                throw refusal("the key signs for it already", "nothing needs to be done")
            }
            keys.append(MetadataKey(key))
        case .removeKey(let prefix, _):
            let removed = trust.keys.filter { $0.id.description.hasPrefix(prefix) }
            guard prefix.utf8.count >= 8, removed.count == 1 else {
                throw refusal(
                    "'\(prefix)' names \(removed.count) of its keys",
                    "give at least 8 digits of one of \(trust.keys.map(\.id.description).joined(separator: ", "))"
                )
            }
            keys.removeAll { removed.contains($0) }
        case .threshold(let wanted, _): threshold = wanted
        case .replaceKey(let old, let new, _):
            try trust.requireKey(old, of: role)
            keys = keys.filter { $0.key != old } + [MetadataKey(new)]
        }
        let changed = RoleTrust(keys, threshold: threshold)
        guard changed != trust else {
            throw refusal("the role is like this already", "nothing needs to be done")
        }
        let count = Set(changed.keys.map(\.key)).count
        guard changed.threshold >= 1, changed.threshold <= count else {
            throw refusal(
                "\(count.counting("key")) could not meet a threshold of \(changed.threshold)",
                "name more keys first, or lower the threshold")
        }
        return changed
    }

    private func refusal(_ problem: String, _ remedy: String) -> VaultError {
        VaultError(.usage, problem, at: "role \(role.rawValue)", remedy: remedy)
    }
}

extension RoleTrust {
    /// Throws `usage` where it does not name a key that is to be replaced.
    func requireKey(_ old: VerifyingKey, of role: TopLevelRole) throws(VaultError) {
        guard !keys.contains(where: { $0.key == old }) else { return }
        throw VaultError(
            .usage, "the root does not name the key that is to be replaced", at: "role \(role.rawValue)",
            remedy: "use add-key and remove-key")
    }
}

/// Replaces the key in a role's own file, and the root that names it. A run that was killed is finished by the next one.
struct KeyRotation {
    private let role: TopLevelRole
    private let folder: FilePath
    private let own: FilePath
    private let next: FilePath

    init(of role: TopLevelRole, in vault: VaultFolder) {
        self.role = role
        folder = vault.keys
        own = vault.signingKey(of: MetadataRole(role))
        next = vault.keys.appending("\(role.rawValue).next.pem")
    }

    /// - Throws: `key` when the role's own file is missing or can't be read.
    func run(_ roots: inout RootRenewal) throws(VaultError) {
        var fresh = try roots.signing.keys.publicKey(at: next)
        if try !FileSystem.exists(own), fresh != nil {
            // Killed between the two renames.
            try roots.signing.keys.move(next, to: own, replacing: false)
            fresh = nil
        }
        guard var old = try roots.signing.keys.publicKey(at: own) else {
            throw VaultError(
                .key, "the key that is to be replaced is not here", at: own.string,
                remedy: "if it is kept elsewhere or lost: add-key, publish, remove-key")
        }
        if let key = fresh, roots.root.trust(in: role).keys.contains(where: { $0.key == key }) {
            // Killed after the publication of the root, before the renames.
            try rename(old, &roots)
            (old, fresh) = (key, nil)
        }
        guard try !roots.waits(for: old, in: role) else { return }
        let key: VerifyingKey
        if let fresh {
            key = fresh
        } else {
            try roots.nextTrust(in: role).requireKey(old, of: role)
            key = try roots.signing.keys.generate(at: next)
        }
        if try !roots.waits(for: key, in: role) { try roots.change(.replaceKey(old, by: key, in: role)) }
        try rename(old, &roots)
    }

    /// Names are only for people: the root decides for which role a key signs.
    private func rename(_ old: VerifyingKey, _ roots: inout RootRenewal) throws(VaultError) {
        let name = "\(role.rawValue).\(MetadataKey(old).id.description.prefix(8)).pem"
        try roots.signing.keys.move(own, to: folder.appending(name), replacing: true)
        try roots.signing.keys.move(next, to: own, replacing: true)
        try Folder(opening: folder).synchronize()
    }
}
