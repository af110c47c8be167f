import PackSealing
import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// The next content of a vault's listing: packs are sealed, nothing is signed.
struct PublicationProposal {
    private(set) var records: [TargetRecord]
    private(set) var packs: [PublicationReport.Pack] = []
    private(set) var warnings: [Warning] = []
    /// Of all packs of the listing.
    private var slots: [KeySlot] = []

    init(
        for session: AuthorSession, _ deliveries: [TeamDelivery], by publisher: PackPublisher,
        acceptingRemovedKeys acceptsRemovedKeys: Bool, onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        let (vault, settings) = (session.vault, session.settings)
        let history = try await session.history()
        let listing = session.published.ownListing
        try Self.checkSources(of: settings, in: vault)
        let waiting = try Self.waitingPacks(in: vault, settings)
        let publishedPacks = Dictionary(listing.packs.map { ($0.pack.id, $0.pack) }) { first, _ in first }
        let earlier = try await Self.withdrawnVersions(
            of: settings.packs.map(\.id).filter { publishedPacks[$0] == nil && waiting[$0] == nil },
            after: session.published, history, by: publisher)
        var changed: [PackID: PackManifest] = [:]
        records = listing.foreign
        for var pack in settings.packs {
            onPack(pack.id, 0)
            let published = publishedPacks[pack.id]
            let result: SealingResult
            if let version = pack.pin {
                // Versions that are listed, or wait for signatures, were accepted before.
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
                Self.move(of: old.pack, to: deliveries) ?? PublicationReport.Pack(of: old.pack, .removed))
        }
        try await warnOfRetiredKeys(after: listing.packs.map(\.pack), history, by: publisher)
        if !changed.isEmpty { try await addCosts(of: changed, history, by: publisher) }
        warnings += publisher.host?.warnings ?? []
    }

    /// The highest versions of packs that are not listed now: clients may have them, so their numbers stay taken.
    private static func withdrawnVersions(
        of ids: [PackID], after state: PublishedState, _ history: PackHistory, by publisher: PackPublisher
    ) async throws(VaultError) -> [PackID: UInt64] {
        guard !ids.isEmpty else { return [:] }
        let ids = Set(ids)
        try await publisher.host?.readHistory(of: ids)
        var highest = try history.highestVersions(of: ids)
        for id in ids {
            // A team lists it now, the vault itself from now on.
            guard let version = state.listedVersion(of: id) else { continue }
            highest[id] = max(highest[id] ?? 0, version)
        }
        return highest
    }

    /// A retired key may have been retired because it leaked.
    private mutating func warnOfRetiredKeys(
        after published: [PackManifest], _ history: PackHistory, by publisher: PackPublisher
    ) async throws(VaultError) {
        let current = Set(published.flatMap(\.slots).map(\.keyID))
        let new = Set(slots.map(\.keyID)).subtracting(current)
        guard !published.isEmpty, !new.isEmpty else { return }
        try await publisher.host?.readHistory(of: Set(published.map(\.id)))
        for id in try history.keyIDs().intersection(new).sorted(by: { $0.description < $1.description }) {
            warnings.append(
                "the vault key '\(id)' was retired, and opens packs again: whoever kept it reads what is published now"
            )
        }
    }

    /// A pack that a team delivers from now on.
    private static func move(of pack: PackManifest, to deliveries: [TeamDelivery]) -> PublicationReport.Pack?
    {
        for delivery in deliveries {
            guard let listed = delivery.pack(pack.id) else { continue }
            return PublicationReport.Pack(of: listed, .moved, team: delivery.team.role.name)
        }
        return nil
    }

    /// Limits of the cost report: versions of a pack, and packs.
    private static let (versions, packLimit) = (3, 1000)

    private mutating func addCosts(
        of changed: [PackID: PackManifest], _ history: PackHistory, by publisher: PackPublisher
    ) async throws(VaultError) {
        let ids = Set(changed.keys)
        try await publisher.host?.readHistory(of: ids)
        let latest = try history.latest(Self.versions, of: ids)
        for index in packs.indices {
            guard let pack = changed[packs[index].id] else { continue }
            let file = try await publisher.file(of: pack)
            for earlier in latest[pack.id] ?? [] where earlier.sha256 != pack.sha256 {
                // Versions that are not kept are left out.
                do throws(VaultError) {
                    let held = try await publisher.file(of: earlier)
                    packs[index].updates.append(
                        PublicationReport.Update(
                            version: earlier.version, cost: try UpdateCost(of: file, reusing: [held])))
                } catch {
                    guard !error.isStorageFailure, !error.isCancellation else { throw error }
                }
            }
        }
    }

    /// Sealed packs whose listing waits for signatures: sealing them again would use another content key.
    private static func waitingPacks(in vault: VaultFolder, _ settings: VaultSettings) throws(VaultError)
        -> [PackID: PackManifest]
    {
        let pending = PendingMetadata(vault: vault)
        var packs: [PackID: PackManifest] = [:]
        for role in try pending.roles()
        where role == .targets || role == settings.structure.ownRole || OwnBins.contains(role) {
            for (path, json) in try pending.file(of: role)?.document.signed.object("targets", at: "pending")
                ?? [:]
            {
                guard case .object(let json) = json, let id = PackID(targetPath: path) else { continue }
                packs[id] = try? PackManifest(parsing: json, place: path)
            }
        }
        return packs
    }

    /// Fails before anything is sealed.
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
