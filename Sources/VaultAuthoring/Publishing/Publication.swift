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
    let keys: AuthorKeys

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
            try await Publication(order, await session(of: vault, settings, order, edit))
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
            try await Publication(order, await session(of: vault, settings, order, edit)).preview(onPack)
        }
    }

    static func session(
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

    init(_ order: PublicationRequest, _ session: AuthorSession) async throws(VaultError) {
        if order.keys != nil { try session.settings.requireUseOfVaultKeys(at: session.vault.settings) }
        self.order = order
        keys = try await AuthorKeys(
            own: order.keys ?? FileKeyProvider(path: session.vault.vaultKeys),
            audiences: session.settings.audiences)
        self.session = session
        deliveries = try session.deliveries()
    }

    func preview(_ onPack: (PackID, UInt64) -> Void) async throws(VaultError) -> PublicationReport {
        let scratch = try ScratchFolder(beside: session.vault.site)
        let proposal = try await proposal(sealingInto: scratch.path, onPack)
        let metadata =
            switch session.published {
            case .site(let site): try await publisher(of: site, proposal).preview(into: scratch.path)
            case .teamRole(let published):
                try TeamPublisher(session: session, published: published).preview(listing: proposal.records)
            }
        try await session.host?.requireUnchanged()
        _ = consume scratch
        let withheld = deliveries.flatMap(\.reachablePacks.withheldTags)
        return report(
            of: proposal, toWrite: metadata.written,
            warnings: metadata.warnings + withheld)
    }

    private func report(
        of proposal: PublicationProposal, written: [String] = [], toWrite: [String] = [], warnings: [Finding]
    ) -> PublicationReport {
        PublicationReport(
            channel: session.settings.structure.channels.first,
            packs: proposal.packs, resealed: proposal.resealing.packs, restorations: proposal.restorations,
            written: written, toWrite: toWrite, findings: proposal.findings,
            warnings: proposal.warnings + warnings,
            isOfTeam: session.settings.structure.ownRole != nil,
            uncountedUpdates: proposal.changed.uncounted)
    }

    /// - Parameter isChanged: whether the session's settings differ from those on disk.
    func run(
        savingSettings isChanged: Bool, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let (vault, settings) = (session.vault, session.settings)
        let listed = session.sourceListing.packs.map(\.pack.id)
        try PublishedPackFiles.removeAbandonedScratch(
            of: settings.packs.map(\.id) + listed, in: vault.targets)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        let proposal = try await proposal(sealingInto: vault.targets, onPack)
        let report: MetadataReport
        switch session.published {
        case .site(let site):
            var publisher = try publisher(of: site, proposal)
            try await session.prepareHost()
            if isChanged { try settings.write(to: vault.settings) }
            report = try await publisher.run()
        case .teamRole(let published):
            if isChanged { try settings.write(to: vault.settings) }
            report = try await TeamPublisher(session: session, published: published)
                .run(listing: proposal.records)
        }
        return self.report(of: proposal, written: report.written, warnings: report.warnings)
    }

    private func publisher(
        of site: CurrentSite, _ proposal: PublicationProposal
    ) throws(VaultError) -> MetadataPublisher {
        try MetadataPublisher(
            of: site, in: session,
            roots: RootRenewal(of: site.root, with: MetadataSigning(for: session)), deliveries: deliveries,
            listing: listing(proposal), naming: proposal.shown)
    }

    private func listing(_ proposal: PublicationProposal) -> [Channel: [TargetRecord]] {
        [session.settings.structure.sourceChannel: proposal.records].merging(proposal.resealing.records) {
            listed, _ in listed
        }
    }

    private func proposal(
        sealingInto output: FilePath, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationProposal {
        let findings = try findings()
        if order.isStrict, let first = findings.first(where: { $0.error != nil }) ?? findings.first {
            throw first.refusal(as: .limit, at: session.vault.path.string)
        }
        try await keys.requireFewEnough(for: session.settings)
        var proposal = try await PublicationProposal(
            for: session, deliveries, by: publisher(sealingInto: output),
            acceptingRemovedKeys: order.acceptsRemovedKeys, onPack: onPack)
        proposal.findings = findings
        return proposal
    }

    /// What 'plan' finds in the sources that are listed. What it finds of teams is among the warnings.
    private func findings() throws(VaultError) -> [Finding] {
        try session.settings.requireSources(in: session.vault)
        let settings = session.settings.withoutPinned
        let sources = PlannedSources(of: settings, in: session.vault, limit: order.unpackingLimit)
        return try ContentPlan(of: settings, from: sources, beside: .notAskedFor).findings
    }

    func publisher(sealingInto output: FilePath) -> PackPublisher {
        PackPublisher(
            vault: session.vault, keys: keys, compression: order.compression,
            unpackingLimit: order.unpackingLimit,
            files: PublishedPackFiles(targets: session.vault.targets, output: output, host: session.host))
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
    /// Whether what 'plan' finds refuses the publication (`.limit`), before anything is sealed.
    public var isStrict = false
    /// Whether a version may be restored that only keys removed from the root have signed.
    public var acceptsRemovedKeys = false

    public init(keys: (any KeyProvider)?, now: UTCTime) {
        self.keys = keys
        self.now = now
    }
}
