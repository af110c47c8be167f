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
    /// Packs with other content than was published, the first of them.
    private var changed: [PackID: PackManifest] = [:]

    init(
        for session: AuthorSession, _ deliveries: [TeamDelivery], by publisher: PackPublisher,
        acceptingRemovedKeys acceptsRemovedKeys: Bool, onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        let (vault, settings) = (session.vault, session.settings)
        let earlier = try await EarlierPacks(of: session, by: publisher)
        let listing = session.published.ownListing
        try Self.checkSources(of: settings, in: vault)
        records = listing.foreign
        let withdrawn = try await earlier.withdrawnVersions(of: settings.packs.map(\.id))
        for pack in settings.packs {
            onPack(pack.id, 0)
            let result =
                if let version = pack.pin {
                    try await publisher.restore(
                        earlier.version(version, of: pack.id, acceptingRemovedKeys: acceptsRemovedKeys),
                        as: pack, newest: earlier.published[pack.id])
                } else {
                    try await publisher.seal(pack, after: earlier, withdrawn: withdrawn[pack.id]) { done in
                        onPack(pack.id, done)
                    }
                }
            if result.manifest.entryCount == 0, pack.pin == nil {
                warnings.append("the source of '\(pack.id)' is empty: \(vault.path.pushing(pack.source))")
            }
            try add(result, after: earlier, isPinned: pack.pin != nil)
        }
        for tree in settings.resources {
            let untagged = try await publisher.seal(tree, after: earlier, onPack: onPack) {
                result throws(VaultError) in try add(result, after: earlier)
            }
            if let first = untagged.first {
                warnings.append(
                    "\(untagged.count.counting("file")) of '\(tree.family)' without any tag in no pack: '\(first)' is the first"
                )
            }
        }
        let declared = Set(packs.map(\.id))
        for old in listing.packs where !declared.contains(old.pack.id) {
            packs.append(
                Self.move(of: old.pack, to: deliveries) ?? PublicationReport.Pack(of: old.pack, .removed))
        }
        try await warnOfRetiredKeys(after: listing.packs.map(\.pack), earlier.history, by: publisher)
        if !changed.isEmpty { try await addCosts(of: changed, earlier.history, by: publisher) }
        warnings += publisher.files.host?.warnings ?? []
    }

    private mutating func add(
        _ result: SealingResult, after earlier: EarlierPacks, isPinned: Bool = false
    ) throws(VaultError) {
        let pack = result.manifest
        let published = earlier.published[pack.id]
        records.append(try TargetRecord(path: pack.id.targetPath, json: pack.json))
        slots += pack.slots
        packs.append(PublicationReport.Pack(result, after: published, isPinned: isPinned))
        if let published, published.sha256 != pack.sha256, changed.count < Self.packLimit {
            changed[pack.id] = pack
        }
    }

    /// A retired key may have been retired because it leaked.
    private mutating func warnOfRetiredKeys(
        after published: [PackManifest], _ history: PackHistory, by publisher: PackPublisher
    ) async throws(VaultError) {
        let current = Set(published.flatMap(\.slots).map(\.keyID))
        let new = Set(slots.map(\.keyID)).subtracting(current)
        guard !published.isEmpty, !new.isEmpty else { return }
        try await publisher.files.host?.readHistory(of: Set(published.map(\.id)))
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
        try await publisher.files.host?.readHistory(of: ids)
        let latest = try history.latest(Self.versions, of: ids)
        for index in packs.indices {
            guard let pack = changed[packs[index].id] else { continue }
            let file = try await publisher.files.file(of: pack)
            for earlier in latest[pack.id] ?? [] where earlier.sha256 != pack.sha256 {
                // Versions that are not kept are left out.
                do throws(VaultError) {
                    let held = try await publisher.files.file(of: earlier)
                    packs[index].updates.append(
                        PublicationReport.Update(
                            version: earlier.version, cost: try UpdateCost(of: file, reusing: [held])))
                } catch {
                    guard !error.isStorageFailure, !error.isCancellation else { throw error }
                }
            }
        }
    }

    /// Fails before anything is sealed.
    private static func checkSources(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        let sources =
            settings.packs.filter { $0.pin == nil }.map { ($0.id, $0.source) }
            + settings.resources.map { ($0.family, $0.source) }
        for (id, source) in sources {
            let source = vault.path.pushing(source)
            guard try FileSystem.status(of: source, followingLinks: true) == nil else { continue }
            throw VaultError(
                .missing, "the source of '\(id)' does not exist", at: source.string,
                remedy: "correct its \"source\" in \(vault.settings.string)")
        }
    }
}
