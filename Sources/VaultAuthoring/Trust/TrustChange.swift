import SystemPackage
public import UpdateFramework
import VaultCrypto
public import VaultErrors
import VaultFileSystem
public import VaultKeys
public import VaultSite

/// Changes who signs for a vault's site, in an order that locks no client out: metadata that old and new keys signed first,
/// then the root that names the new keys; the next publication drops the old signatures.
public struct TrustChange: Sendable {
    private let vault: VaultFolder
    private let passphrase: PassphraseSource?
    private let now: UTCTime
    /// The host to go on from, where `site/` is incomplete: then only new files are written there.
    public var host: Site?

    public init(of vault: VaultFolder, passphrase: PassphraseSource?, now: UTCTime) {
        self.vault = vault
        self.passphrase = passphrase
        self.now = now
    }

    /// Writes the next root, and publishes it if the keys at hand suffice; else it waits in `pending/`.
    public func apply(_ change: RootChange) async throws(VaultError) -> MetadataReport {
        try await publish(adding: change.addedKey) { roots throws(VaultError) in try roots.change(change) }
    }

    /// Replaces the key in the role's own file by a new one. The old file stays, under the beginning of its key's ID:
    /// its key is needed until the next root is published.
    public func rotate(_ role: TopLevelRole) async throws(VaultError) -> MetadataReport {
        try await publish { roots throws(VaultError) in
            try KeyRotation(of: role, in: vault).run(&roots)
        }
    }

    /// Signs a new timestamp over the published snapshot, before the old one expires.
    ///
    /// - Throws: `untrusted` for a host whose timestamp, snapshot or root has expired: its state may be an old one, and nothing else about it
    ///   is looked at here.
    public func refresh() async throws(VaultError) -> MetadataReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (session, site) = try await open(settings)
            guard let tree = site.tree else {
                throw VaultError(
                    .missing, "nothing was published yet", at: vault.site.string,
                    remedy: "publish first", hint: .publishing)
            }
            try session.host?.requireUnexpired(
                "a new timestamp would make that the newest",
                remedy: HostedSite.withoutHost)
            let signing = try MetadataSigning(for: session)
            try session.host?.requireNewestRoot(
                naming: signing.keys, orWaiting: RootRenewal(of: site.root, with: signing).pendingRoot,
                orAdding: nil)
            try await session.prepareHost()
            let renewal = SiteRenewal(
                current: tree, root: site.root, successor: nil, signing: signing)
            let file = try renewal.timestamp(over: tree.chain.snapshot.reference)
            try vault.remember(try await session.publish([file], now: now))
            let summary = TrustSummary(of: tree, lifetime: settings.lifetime, now: now)
            return MetadataReport(
                written: [file.hostedName],
                warnings: session.warnings
                    + summary.roles.filter { $0.role != .timestamp }.compactMap(\.warning))
        }
    }

    /// Publishes the site as it is listed, after a change of the root.
    private func publish(
        adding key: VerifyingKey? = nil, _ change: (inout RootRenewal) throws(VaultError) -> Void
    ) async throws(VaultError) -> MetadataReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let (session, site) = try await open(settings)
            var publisher = try MetadataPublisher(
                of: site, in: session,
                roots: RootRenewal(of: site.root, with: MetadataSigning(for: session)),
                deliveries: session.deliveries(), adding: key)
            // A change writes keys and drafts: every refusal of the host comes before it.
            try await session.host?.requireUnchanged()
            try change(&publisher.roots)
            try session.host?.removeSuperseded()
            var report = try await publisher.run()
            report.warnings += session.warnings
            return report
        }
    }

    private func open(_ settings: VaultSettings) async throws(VaultError) -> (AuthorSession, CurrentSite) {
        let session = try await AuthorSession(
            of: vault, settings, period: SigningPeriod(lifetime: settings.lifetime, now: now),
            passphrase: passphrase, at: host)
        guard case .site(let site) = session.published else {
            throw VaultError(
                .usage, "a team's vault has no root", at: vault.path.string,
                remedy: "change the team's keys where its packs are listed")
        }
        return (session, site)
    }
}
