public import PackSources
public import SealedPack
import SystemPackage
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
public import VaultKeys
public import VaultSite

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs are written first, then metadata, the timestamp last. Without a
/// change only metadata that would soon expire is written.
public struct Publication: Sendable {
    private let order: PublicationRequest
    private let session: AuthorSession
    private let deliveries: [TeamDelivery]
    /// The vault's own keys.
    private let keys: any KeyProvider

    /// Publishes a vault. One publisher at a time: another one throws `.busy`.
    ///
    /// - Parameters:
    ///   - edit: a change of the settings, saved after all packs are sealed.
    ///   - onPack: called for each pack, with the number of bytes that are done.
    public static func run(
        of vault: VaultFolder, _ order: PublicationRequest,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            try await Publication(order, session(of: vault, settings, order, edit))
                .run(savingSettings: edit != nil, onPack)
        }
    }

    /// Reports what ``run(of:_:editing:onPack:)`` would do: packs are sealed into scratch, and no file of the vault
    /// changes.
    public static func preview(
        of vault: VaultFolder, _ order: PublicationRequest,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let publication = try await Publication(order, session(of: vault, settings, order, edit))
            let scratch = try ScratchFolder(beside: vault.site)
            let proposal = try await publication.proposal(sealingInto: scratch.path, onPack)
            try await publication.session.host?.requireUnchanged()
            let imports = try TeamImports(
                of: publication.deliveries, versionsAreReset: false, into: scratch.path)
            _ = consume scratch
            let withheld = publication.deliveries.flatMap(\.reachablePacks.withheldTags)
            return PublicationReport(
                packs: proposal.packs, resealed: proposal.resealing.packs, written: [],
                warnings: proposal.warnings + imports.warnings + withheld.map { Warning($0) },
                uncountedUpdates: proposal.changed.uncounted)
        }
    }

    /// Lists an earlier version of a pack again, without sealing it, until it is released.
    ///
    /// - Parameter version: nil releases it: the source is sealed and listed again.
    /// - Throws: `missing` for a version that no kept metadata lists, or whose pack is gone; `untrusted` for one that only
    ///   keys have signed which a later root removed, unless the order accepts them.
    public static func restore(
        _ id: PackID, to version: UInt64?, in vault: VaultFolder, _ order: PublicationRequest
    ) async throws(VaultError) -> PublicationReport {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            var session = try await session(of: vault, settings, order)
            let highest = try await Publication(order, session).highestVersion(of: id)
            try session.settings.pin(id, to: version, above: highest)
            return try await Publication(order, session).run(savingSettings: true) { _, _ in }
        }
    }

    private static func session(
        of vault: VaultFolder, _ settings: VaultSettings, _ order: PublicationRequest,
        _ edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil
    ) async throws(VaultError) -> AuthorSession {
        var settings = settings
        try edit?(&settings)
        let period = SigningPeriod(
            lifetime: settings.lifetime, now: order.now, offlineUntil: order.offlineUntil)
        return try await AuthorSession(
            of: vault, settings, period: period, passphrase: order.passphrase, at: order.host)
    }

    private init(_ order: PublicationRequest, _ session: AuthorSession) throws(VaultError) {
        if order.keys != nil { try session.settings.requireUseOfVaultKeys(at: session.vault.settings) }
        self.order = order
        keys = order.keys ?? FileKeyProvider(path: session.vault.vaultKeys)
        self.session = session
        deliveries = try session.deliveries()
    }

    private func run(
        savingSettings isChanged: Bool, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let (vault, settings) = (session.vault, session.settings)
        let listed = session.sourceListing.packs.map(\.pack.id)
        try PublishedPackFiles.removeAbandonedScratch(
            of: settings.packs.map(\.id) + listed, in: vault.targets)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        let proposal = try await proposal(sealingInto: vault.targets, onPack)
        try await session.prepareHost()
        if isChanged { try settings.write(to: vault.settings) }
        let report: MetadataReport
        switch session.published {
        case .site(let site):
            let roots = try RootRenewal(of: site.root, with: MetadataSigning(for: session))
            var publisher = MetadataPublisher(
                session: session, site: site, roots: roots, deliveries: deliveries)
            report = try await publisher.run(
                listing: [settings.structure.sourceChannel: proposal.records].merging(
                    proposal.resealing.records
                ) { listed, _ in listed })
        case .teamRole(let published):
            report = try TeamPublisher(session: session, published: published).run(listing: proposal.records)
        }
        return PublicationReport(
            packs: proposal.packs, resealed: proposal.resealing.packs, written: report.written,
            warnings: proposal.warnings + report.warnings,
            isOfTeam: settings.structure.ownRole != nil, uncountedUpdates: proposal.changed.uncounted)
    }

    private func proposal(
        sealingInto output: FilePath, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationProposal {
        try await PublicationProposal(
            for: session, deliveries, by: publisher(sealingInto: output),
            acceptingRemovedKeys: order.acceptsRemovedKeys, onPack: onPack)
    }

    private func publisher(sealingInto output: FilePath) -> PackPublisher {
        PackPublisher(
            vault: session.vault, keys: keys, audiences: session.settings.audiences,
            compression: order.compression, unpackingLimit: order.unpackingLimit,
            files: PublishedPackFiles(targets: session.vault.targets, output: output, host: session.host))
    }

    /// Of a declared pack in any kept metadata; 0 for one that was never published.
    private func highestVersion(of id: PackID) async throws(VaultError) -> UInt64 {
        let publisher = publisher(sealingInto: session.vault.targets)
        let earlier = try await EarlierPacks(of: session, by: publisher)
        let names = try await QuietNames(for: session.settings, after: earlier, by: publisher)
        let listed = try names.listedID(of: id, family: nil)
        try await session.host?.readWholeHistory(of: listed)
        return try earlier.history.versions(of: listed).first ?? 0
    }
}

/// The inputs of a publication.
public struct PublicationRequest: Sendable {
    /// Packs without an audience are sealed for exactly these vault keys; nil uses those in the vault's ``VaultFolder/vaultKeys``.
    /// Where every pack is for an audience, given keys are refused (`.usage`): no pack would use them.
    public let keys: (any KeyProvider)?
    /// For encrypted signing keys.
    public var passphrase: PassphraseSource?
    public let now: UTCTime
    /// The host to publish from, where `site/` is incomplete: then only new files are written there.
    public var host: Site?
    /// The least expiry of all metadata, for offline media.
    public var offlineUntil: UTCTime?
    /// For new pieces; nil uses the settings.
    public var compression: Compression?
    /// Limit for sources that are archives.
    public var unpackingLimit = UnpackingLimit.standard
    /// Whether a version may be restored that only keys removed from the root have signed.
    public var acceptsRemovedKeys = false

    public init(keys: (any KeyProvider)?, now: UTCTime) {
        self.keys = keys
        self.now = now
    }
}
