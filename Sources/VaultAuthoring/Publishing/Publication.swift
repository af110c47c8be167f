public import SealedPack
import StrictJSON
import SystemPackage
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
public import VaultKeys
import VaultSite

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs come first, under names that nobody knows yet, then the metadata,
/// the timestamp last. With nothing changed nothing is written, except metadata that would soon expire.
public struct Publication: Sendable {
    private let vault: VaultFolder
    private let settings: VaultSettings
    private let order: PublicationOrder
    private let publisher: PackPublisher

    /// Publishes a vault. One publisher at a time: another one throws `.busy`.
    ///
    /// - Parameters:
    ///   - edit: a change of the settings, such as a pack to declare; saved when all was sealed.
    ///   - onPack: told of each pack before it is sealed, and how many of its bytes are done.
    public static func run(
        of vault: VaultFolder, _ order: PublicationOrder,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        onPack: (PackID, UInt64) -> Void = { _, _ in }
    ) async throws(VaultError) -> PublicationReport {
        let lock = try vault.beginPublishing()
        var settings = try VaultSettings(reading: vault.settings)
        try edit?(&settings)
        let report = try await run(of: vault, settings, isEdited: edit != nil, order, onPack)
        _ = consume lock
        return report
    }

    /// Puts an earlier version of a pack live under newer metadata, without sealing it again. It stays until it is
    /// released, whatever the pack's source becomes.
    ///
    /// - Parameter version: nil lists the source as it is again.
    /// - Throws: `missing` for a version that no kept metadata lists, or whose pack is gone.
    public static func restore(
        _ id: PackID, to version: UInt64?, in vault: VaultFolder, _ order: PublicationOrder
    ) async throws(VaultError) -> PublicationReport {
        let lock = try vault.beginPublishing()
        var settings = try VaultSettings(reading: vault.settings)
        let state = try await PublishedState(of: vault, settings, passphrase: order.passphrase)
        let highest = try state.history.versions(of: id).first ?? 0
        try settings.pin(id, to: version, above: highest)
        let report = try await run(of: vault, settings, isEdited: true, order) { _, _ in }
        _ = consume lock
        return report
    }

    private static func run(
        of vault: VaultFolder, _ settings: VaultSettings, isEdited: Bool, _ order: PublicationOrder,
        _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let publisher = PackPublisher(vault: vault, keys: order.keys)
        return try await Publication(vault: vault, settings: settings, order: order, publisher: publisher)
            .run(savingSettings: isEdited, onPack)
    }

    private func run(
        savingSettings isChanged: Bool, _ onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) -> PublicationReport {
        let site = try await PublishedState(of: vault, settings, passphrase: order.passphrase)
        let listing = site.ownListing
        try publisher.removeAbandonedScratch(of: settings.packs.map(\.id) + listing.packs.map(\.pack.id))
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        try checkSources()
        let waiting = try waitingPacks()
        let publishedPacks = Dictionary(listing.packs.map { ($0.pack.id, $0.pack) }) { first, _ in first }
        let history = try settings.packs.contains { $0.pin != nil } ? site.history : nil
        var report: [PublicationReport.Pack] = []
        var records = listing.foreign
        for pack in settings.packs {
            onPack(pack.id, 0)
            let published = publishedPacks[pack.id]
            let result: SealingResult
            if let version = pack.pin, let history {
                let earlier = try history.pack(pack.id, version: version, newest: published)
                result = try await publisher.restore(earlier, offer: pack.offer, newest: published)
            } else {
                result = try await publisher.seal(pack, after: waiting[pack.id] ?? published) { done in
                    onPack(pack.id, done)
                }
            }
            records.append(try TargetRecord(path: pack.id.targetPath, json: result.descriptor.json))
            report.append(PublicationReport.Pack(result, after: published, isPinned: pack.pin != nil))
        }
        let declared = Set(settings.packs.map(\.id))
        for old in listing.packs where !declared.contains(old.pack.id) {
            report.append(PublicationReport.Pack(removed: old.pack))
        }
        if isChanged { try settings.write(to: vault.settings) }
        let outcome = try await site.update(to: records, settings, order)
        return PublicationReport(packs: report, written: outcome.written, warnings: outcome.warnings)
    }

    /// What was sealed already and waits for the signature of a key that is kept elsewhere: sealing it once more would
    /// take another content key.
    private func waitingPacks() throws(VaultError) -> [PackID: PackDescriptor] {
        let pending = PendingMetadata(vault: vault)
        var packs: [PackID: PackDescriptor] = [:]
        for role in try pending.roles()
        where role == .targets || role == settings.structure.ownRole || BinnedListing.isOwn(role) {
            for (path, json) in try pending.file(of: role)?.document.signed.object("targets", at: "pending")
                ?? [:]
            {
                guard case .object(let json) = json, let id = PackID(targetPath: path) else { continue }
                packs[id] = try? PackDescriptor(parsing: json, place: path)
            }
        }
        return packs
    }

    /// A source that is missing stops the publication before anything was sealed.
    private func checkSources() throws(VaultError) {
        for pack in settings.packs where pack.pin == nil {
            let source = vault.path.pushing(pack.source)
            guard try FileSystem.status(of: source, followingLinks: true) == nil else { continue }
            throw VaultError(
                .missing, "the source of '\(pack.id)' does not exist", at: source.string,
                remedy: "correct its \"source\" in \(vault.settings.string)")
        }
    }
}

/// What a publication works with.
public struct PublicationOrder: Sendable {
    /// Packs are sealed for exactly the vault keys that it yields.
    public let keys: any KeyProvider
    /// Of encrypted signing keys.
    public var passphrase: PassphraseSource?
    public let now: UTCTime
    /// All metadata is to be believed until then at least: for media that travel offline.
    public var offlineUntil: UTCTime?

    public init(keys: any KeyProvider, now: UTCTime) {
        self.keys = keys
        self.now = now
    }
}
