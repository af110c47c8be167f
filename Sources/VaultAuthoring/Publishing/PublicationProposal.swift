import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// What a vault is to list next: every pack is sealed, nothing is signed.
struct PublicationProposal {
    private(set) var records: [TargetRecord]
    private(set) var packs: [PublicationReport.Pack] = []
    private(set) var warnings: [String] = []
    /// Of all packs that are listed next.
    private var slots: [KeySlot] = []

    init(
        for vault: VaultFolder, _ settings: VaultSettings, after state: PublishedState,
        by publisher: PackPublisher, acceptingRemovedKeys acceptsRemovedKeys: Bool,
        onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        let listing = state.ownListing
        try Self.checkSources(of: settings, in: vault)
        let waiting = try Self.waitingPacks(in: vault, settings)
        let publishedPacks = Dictionary(listing.packs.map { ($0.pack.id, $0.pack) }) { first, _ in first }
        let history = try settings.packs.contains { $0.pin != nil } ? state.history : nil
        let earlier = try await Self.withdrawnVersions(
            of: settings.packs.map(\.id).filter { publishedPacks[$0] == nil && waiting[$0] == nil },
            after: state, by: publisher)
        var changed: [PackID: PackManifest] = [:]
        records = listing.foreign
        for var pack in settings.packs {
            onPack(pack.id, 0)
            let published = publishedPacks[pack.id]
            let result: SealingResult
            if let version = pack.pin, let history {
                // What the vault lists itself, or would once it is signed, was accepted before.
                let accepted = [published, waiting[pack.id]].compactMap(\.self)
                let restored =
                    if let pack = accepted.first(where: { $0.version == version }) { pack } else {
                        try history.pack(
                            pack.id, version: version, acceptingRemovedKeys: acceptsRemovedKeys)
                    }
                result = try await publisher.restore(restored, offer: pack.offer, newest: published)
            } else {
                pack.lastVersion = max(pack.lastVersion, earlier[pack.id] ?? 0)
                let previous = [waiting[pack.id], published].compactMap { $0 }
                result = try await publisher.seal(pack, after: previous) { done in onPack(pack.id, done) }
            }
            if result.manifest.entryCount == 0, pack.pin == nil {
                warnings.append("the source of '\(pack.id)' is empty: \(vault.path.pushing(pack.source))")
            }
            records.append(try TargetRecord(path: pack.id.targetPath, json: result.manifest.json))
            slots += result.manifest.slots
            packs.append(PublicationReport.Pack(result, after: published, isPinned: pack.pin != nil))
            if let published, published.sha256 != result.manifest.sha256, changed.count < Self.packLimit {
                changed[pack.id] = result.manifest
            }
        }
        let declared = Set(settings.packs.map(\.id))
        for old in listing.packs where !declared.contains(old.pack.id) {
            packs.append(
                Self.move(of: old.pack, in: vault, settings) ?? PublicationReport.Pack(removed: old.pack))
        }
        try await warnOfRetiredKeys(after: state, by: publisher)
        if !changed.isEmpty { try await addCosts(of: changed, after: state, by: publisher) }
        warnings += publisher.host?.warnings ?? []
    }

    /// The highest versions of packs that are not listed now and may have been before: clients may still have these, so
    /// their numbers are not given to other bytes.
    private static func withdrawnVersions(
        of ids: [PackID], after state: PublishedState, by publisher: PackPublisher
    ) async throws(VaultError) -> [PackID: UInt64] {
        guard !ids.isEmpty else { return [:] }
        let ids = Set(ids)
        try await publisher.host?.readHistory(of: ids)
        var highest = try state.history.highestVersions(of: ids)
        for id in ids {
            // What a team lists now, and the vault itself from now on.
            guard let version = state.listedVersion(of: id) else { continue }
            highest[id] = max(highest[id] ?? 0, version)
        }
        return highest
    }

    /// A key that was given up may be in hands that it was given up for.
    private mutating func warnOfRetiredKeys(
        after state: PublishedState, by publisher: PackPublisher
    ) async throws(VaultError) {
        let published = state.ownListing.packs.map(\.pack)
        let current = Set(published.flatMap(\.slots).map(\.keyID))
        let new = Set(slots.map(\.keyID)).subtracting(current)
        guard !published.isEmpty, !new.isEmpty else { return }
        try await publisher.host?.readHistory(of: Set(published.map(\.id)))
        for id in try state.history.keyIDs().intersection(new).sorted(by: { $0.description < $1.description })
        {
            warnings.append(
                "the vault key '\(id)' was retired, and opens packs again: whoever kept it reads what is published now"
            )
        }
    }

    /// A pack that a team has delivered, instead of the vault itself.
    private static func move(of pack: PackManifest, in vault: VaultFolder, _ settings: VaultSettings)
        -> PublicationReport.Pack?
    {
        for team in settings.structure.teams {
            let delivery = try? TeamImport(
                from: team, into: vault, listed: nil, versionsAreReset: false, now: .earliest)
            if let listed = delivery?.pack(pack.id) {
                return PublicationReport.Pack(moved: listed, to: team.role.name)
            }
        }
        return nil
    }

    /// So many versions are looked back at, and so many packs.
    private static let (versions, packLimit) = (3, 1000)

    private mutating func addCosts(
        of changed: [PackID: PackManifest], after state: PublishedState, by publisher: PackPublisher
    ) async throws(VaultError) {
        let ids = Set(changed.keys)
        try await publisher.host?.readHistory(of: ids)
        let history = try state.history.latest(Self.versions, of: ids)
        for index in packs.indices {
            guard let pack = changed[packs[index].id] else { continue }
            let file = try await publisher.file(of: pack)
            for earlier in history[pack.id] ?? [] where earlier.sha256 != pack.sha256 {
                // What is not kept any more tells nothing.
                do throws(VaultError) {
                    let held = try await publisher.file(of: earlier)
                    packs[index].updates.append(
                        PublicationReport.Update(
                            version: earlier.version, cost: try UpdateCost(of: file, reusing: [held])))
                } catch {
                    guard !error.isOfStorage, !error.isCancellation else { throw error }
                }
            }
        }
    }

    /// What was sealed already and waits for the signature of a key that is kept elsewhere: sealing it once more would
    /// take another content key.
    private static func waitingPacks(in vault: VaultFolder, _ settings: VaultSettings) throws(VaultError)
        -> [PackID: PackManifest]
    {
        let pending = PendingMetadata(vault: vault)
        var packs: [PackID: PackManifest] = [:]
        for role in try pending.roles()
        where role == .targets || role == settings.structure.ownRole || BinnedListing.isOwn(role) {
            for (path, json) in try pending.file(of: role)?.document.signed.object("targets", at: "pending")
                ?? [:]
            {
                guard case .object(let json) = json, let id = PackID(targetPath: path) else { continue }
                packs[id] = try? PackManifest(parsing: json, place: path)
            }
        }
        return packs
    }

    /// A source that is missing stops the publication before anything was sealed.
    private static func checkSources(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        for pack in settings.packs where pack.pin == nil {
            let source = vault.path.pushing(pack.source)
            guard try FileSystem.status(of: source, followingLinks: true) == nil else { continue }
            throw VaultError(
                .missing, "the source of '\(pack.id)' does not exist", at: source.string,
                remedy: "correct its \"source\" in \(vault.settings.string)")
        }
    }
}
