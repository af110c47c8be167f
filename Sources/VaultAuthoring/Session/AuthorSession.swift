import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// The state of one command on a vault: each part is read and verified once, under the publisher's lock.
struct AuthorSession {
    let vault: VaultFolder
    var settings: VaultSettings
    let period: SigningPeriod
    /// For encrypted signing keys.
    let passphrase: PassphraseSource?
    /// The host's site, where the vault's own folder is incomplete.
    let host: HostedSite?
    let published: PublishedState

    init(
        of vault: VaultFolder, _ settings: VaultSettings, period: SigningPeriod,
        passphrase: PassphraseSource?, at site: Site? = nil
    ) async throws(VaultError) {
        let host: HostedSite? =
            if let site { try await HostedSite(site, of: vault, settings, now: period.now) } else { nil }
        self.vault = host?.vault ?? vault
        self.settings = settings
        self.period = period
        self.passphrase = passphrase
        self.host = host
        if let host {
            published = .site(CurrentSite(host.tree, isReplacement: host.isReplacement))
        } else if let role = settings.structure.ownRole {
            published = .teamRole(try PublishedTeamRole(of: role, in: vault, passphrase: passphrase))
        } else {
            published = .site(try await CurrentSite(of: vault))
        }
    }

    /// Earlier versions of the vault's packs.
    func history() async throws(VaultError) -> PackHistory {
        let signers =
            switch published {
            case .site: TargetsSignatureHistory(under: try await vault.roots())
            case .teamRole(let published): TargetsSignatureHistory(published.trust, in: published.role)
            }
        return PackHistory(of: vault, from: host?.source ?? MetadataFolder(vault.metadata), signedBy: signers)
    }

    /// The version numbers that no pack gets again.
    func givenVersions() async throws(VaultError) -> GivenVersions { try await GivenVersions(of: self) }

    /// What the user should know of the published state.
    var warnings: [Finding] {
        if let host { return host.warnings }
        if case .site(let site) = published { return site.warnings }
        return []
    }

    /// The packs that the sources were published as.
    var sourceListing: OwnListing { published.ownListing(in: settings.structure.sourceChannel) }

    /// Before anything is written: throws `busy` when another process has published to the host since it was read, and removes
    /// what an earlier run left to upload that the host has otherwise.
    func prepareHost() async throws(VaultError) {
        try await host?.requireUnchanged()
        try host?.removeSuperseded()
    }

    /// Publishes metadata, as ``MetadataFolder/publish(_:now:)`` does. A vault that follows a host also gets it in its
    /// site's folder, to be uploaded, the timestamp last: the host's own where no other was signed, as with a root alone. A file of
    /// that name there was never uploaded: it is replaced.
    func publish(_ files: [SignedMetadata], now: UTCTime) async throws(VaultError) -> TargetTree {
        let tree = try await MetadataFolder(vault.metadata).publish(files, now: now)
        guard vault.followsHost else { return tree }
        try FileSystem.createFolders(vault.siteMetadata, permissions: 0o755)
        for document in files.filter({ $0.draft.role != .timestamp }).map({ ($0.hostedName, $0.bytes) })
            + [(MetadataRole.timestamp.fileName, tree.chain.timestamp.bytes)]
        {
            try DurableFile.write(
                document.1.span, to: vault.siteMetadata.appending(document.0), permissions: 0o644,
                replacing: true)
        }
        return tree
    }

    func deliveries() throws(VaultError) -> [TeamDelivery] {
        guard case .site(let site) = published else { return [] }
        return try settings.structure.teams.map { team throws(VaultError) in
            try TeamDelivery(
                of: team, to: vault, listed: site.tree?.chain.snapshot[team.role],
                hosted: host == nil ? nil : site.tree, now: period.now)
        }
    }
}

/// The published state of a vault: a site, or the role of a team in another vault's site.
enum PublishedState {
    case site(CurrentSite)
    case teamRole(PublishedTeamRole)

    /// The packs that the vault itself lists in a channel. A team's role has only one.
    func ownListing(in channel: Channel) -> OwnListing {
        switch self {
        case .site(let site): site.ownListing(in: channel)
        case .teamRole(let published): OwnListing(of: published.targets?.records ?? [])
        }
    }

    /// The version of a pack that any role of the site lists.
    func listedVersion(of id: PackID) -> UInt64? {
        guard case .site(let site) = self, let record = try? site.tree?.record(at: id.targetPath)
        else { return nil }
        return try? ListedPack(record).pack.version
    }
}

extension VaultFolder {
    /// Runs `body`, with the settings, as the only publisher of this vault. Throws `busy` while another process publishes.
    func withPublisherLock<Result>(
        _ body: (VaultSettings) async throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        // Without a vault there is nothing to lock.
        _ = try VaultSettings(reading: settings)
        guard let lock = try FileLock.tryAcquire(lock, .exclusive) else {
            throw VaultError(
                .busy, "another process is publishing this vault", at: path.string,
                remedy: "wait until it is done")
        }
        defer { withExtendedLifetime(lock) {} }
        // A killed process may have left copies of keys.
        for folder in [path, keys, pending, site, metadata, targets] where try FileSystem.exists(folder) {
            try Folder(opening: folder).removeAbandonedScratch()
        }
        // Another process may have changed them before it released the lock.
        return try await body(VaultSettings(reading: settings))
    }
}
