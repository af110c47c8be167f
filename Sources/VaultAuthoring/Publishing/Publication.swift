public import SealedPack
import SystemPackage
public import UpdateFramework
public import VaultArchive
public import VaultErrors
import VaultFileSystem
public import VaultKeys
public import VaultSite

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs come first, under names that nobody knows yet, then the metadata,
/// the timestamp last. With nothing changed nothing is written, except metadata that would soon expire.
public struct Publication: Sendable {
    private let vault: VaultFolder
    private let settings: VaultSettings
    private let order: PublicationRequest
    private let host: HostedSite?

    /// Publishes a vault. One publisher at a time: another one throws `.busy`.
    ///
    /// - Parameters:
    ///   - edit: a change of the settings, such as a pack to declare; saved when all was sealed.
    ///   - onPack: told of each pack before it is sealed, and how many of its bytes are done.
    public static func run(
        of vault: VaultFolder, _ order: PublicationRequest,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        let lock = try vault.beginPublishing()
        defer { withExtendedLifetime(lock) {} }
        var settings = try VaultSettings(reading: vault.settings)
        try edit?(&settings)
        return try await Publication(of: vault, settings, order).run(savingSettings: edit != nil, onPack)
    }

    /// Tells what ``run(of:_:editing:onPack:)`` would do now: packs are sealed where they are thrown away, nothing is signed,
    /// and no file of the vault changes.
    public static func preview(
        of vault: VaultFolder, _ order: PublicationRequest,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        let lock = try vault.beginPublishing()
        var settings = try VaultSettings(reading: vault.settings)
        try edit?(&settings)
        let publication = try await Publication(of: vault, settings, order)
        let scratch = try ScratchFolder(beside: vault.site)
        let state = try await publication.state
        let proposal = try await publication.proposal(after: state, sealingInto: scratch.path, onPack)
        try await publication.host?.requireUnchanged()
        _ = consume scratch
        _ = consume lock
        return PublicationReport(packs: proposal.packs, written: [], warnings: proposal.warnings)
    }

    /// Puts an earlier version of a pack live under newer metadata, without sealing it again. It stays until it is
    /// released, whatever the pack's source becomes.
    ///
    /// - Parameter version: nil lists the source as it is again.
    /// - Throws: `missing` for a version that no kept metadata lists, or whose pack is gone; `untrusted` for one that only
    ///   keys have signed which a later root removed, unless the order accepts them.
    public static func restore(
        _ id: PackID, to version: UInt64?, in vault: VaultFolder, _ order: PublicationRequest
    ) async throws(VaultError) -> PublicationReport {
        let lock = try vault.beginPublishing()
        var settings = try VaultSettings(reading: vault.settings)
        let state = try await PublishedState(of: vault, settings, passphrase: order.passphrase)
        let highest = try state.history.versions(of: id).first ?? 0
        try settings.pin(id, to: version, above: highest)
        let report = try await Publication(of: vault, settings, order).run(savingSettings: true) { _, _ in }
        _ = consume lock
        return report
    }

    private init(
        of vault: VaultFolder, _ settings: VaultSettings, _ order: PublicationRequest
    ) async throws(VaultError) {
        self.settings = settings
        self.order = order
        guard let site = order.host else {
            host = nil
            self.vault = vault
            return
        }
        guard settings.structure.ownRole == nil else {
            throw VaultError(
                .usage, "a team's part has no timestamp, which tells what is newest", at: vault.path.string,
                remedy: "publish it where its site/ is kept")
        }
        let host = try await HostedSite(site, of: vault)
        self.host = host
        self.vault = host.vault
    }

    private var state: PublishedState {
        get async throws(VaultError) {
            try await PublishedState(of: vault, settings, passphrase: order.passphrase, at: host)
        }
    }

    private func run(
        savingSettings isChanged: Bool, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let state = try await state
        try PackPublisher.removeAbandonedScratch(
            of: settings.packs.map(\.id) + state.ownListing.packs.map(\.pack.id), in: vault.targets)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        let proposal = try await proposal(after: state, sealingInto: vault.targets, onPack)
        try await host?.requireUnchanged()
        try host?.removeSuperseded()
        if isChanged { try settings.write(to: vault.settings) }
        let outcome = try await state.update(to: proposal.records, settings, order)
        return PublicationReport(
            packs: proposal.packs, written: outcome.written, warnings: proposal.warnings + outcome.warnings)
    }

    private func proposal(
        after state: PublishedState, sealingInto output: FilePath, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationProposal {
        let publisher = PackPublisher(
            vault: vault, keys: order.keys, compression: order.compression,
            unpackingLimit: order.unpackingLimit, host: host, output: output)
        return try await PublicationProposal(
            for: vault, settings, after: state, by: publisher,
            acceptingRemovedKeys: order.acceptsRemovedKeys, onPack: onPack)
    }
}

/// What a publication works with.
public struct PublicationRequest: Sendable {
    /// Packs are sealed for exactly the vault keys that it yields.
    public let keys: any KeyProvider
    /// Of encrypted signing keys.
    public var passphrase: PassphraseSource?
    public let now: UTCTime
    /// Where the site is, on a machine whose `site/` lacks it: then only what is new is written there.
    public var host: Site?
    /// All metadata is to be believed until then at least: for media that travel offline.
    public var offlineUntil: UTCTime?
    /// Of what is sealed anew, whatever the settings say; nil leaves it to them.
    public var compression: Compression?
    /// How much a source that is an archive may unpack to.
    public var unpackingLimit = UnpackingLimit.standard
    /// Whether an earlier version may be put live again that only keys have signed which the root names no more.
    public var acceptsRemovedKeys = false

    public init(keys: any KeyProvider, now: UTCTime) {
        self.keys = keys
        self.now = now
    }
}
