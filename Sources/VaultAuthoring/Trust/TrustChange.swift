import SystemPackage
public import UpdateFramework
import VaultCrypto
public import VaultErrors
import VaultFileSystem
import VaultSite

/// Changes who signs for a vault's site, in an order that locks no client out: metadata that old and new keys signed first,
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
        try await vault.withSession(request) { session async throws(VaultError) in
            _ = try site(of: session)
            var report = try await session.publish(
                ProposedChange(deliveries: session.deliveries(), keys: change), into: .vault)
            report.warnings += session.warnings
            return report
        }
    }

    /// Signs a new timestamp over the published snapshot, before the old one expires.
    ///
    /// - Throws: `untrusted` for a host whose timestamp, snapshot or root has expired: its state may be an old one, and nothing else about it
    ///   is looked at here.
    public func refresh() async throws(VaultError) -> MetadataReport {
        try await vault.withSession(request) { session async throws(VaultError) in
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
        if case .site(let site) = session.published { return site }
        throw VaultError(
            .usage, "a team's vault has no root", at: vault.path.string,
            remedy: "change the team's keys where its packs are listed")
    }
}
