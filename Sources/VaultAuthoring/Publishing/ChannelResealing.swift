import SealedPack
import UpdateFramework
import VaultErrors
import VaultKeys
import VaultSite

/// New slots for what the other channels list: whom a pack is for holds in every channel, whatever version it lists. Only
/// metadata change.
struct ChannelResealing {
    /// For whom the packs of the sources are sealed.
    struct Recipients {
        private var slotsByKey: [ContentKeyID: [KeySlot]] = [:]
        private var audiencesByID: [PackID: [String]] = [:]
        /// All that something is sealed for.
        private(set) var keys: Set<KeyID> = []

        mutating func note(_ pack: PackManifest, for audiences: [String]) {
            slotsByKey[pack.contentKeyID] = pack.slots
            audiencesByID[pack.id] = audiences
            if let family = pack.offer.family { audiencesByID[family] = audiences }
            keys.formUnion(pack.slots.map(\.keyID))
        }

        init() {}

        /// By what is listed now, the first of each content key.
        init(of listed: [PackManifest], declaredBy settings: VaultSettings) {
            slotsByKey = Dictionary(listed.map { ($0.contentKeyID, $0.slots) }) { first, _ in first }
            for pack in settings.packs { audiencesByID[pack.id] = pack.audiences }
            for tree in settings.resources { audiencesByID[tree.family] = tree.audiences }
        }

        /// The slots of packs with this content key.
        subscript(key: ContentKeyID) -> [KeySlot]? { slotsByKey[key] }

        /// The audiences that a version is for; nil where it is none of the sources'.
        fileprivate func audiences(of version: PackManifest) -> [String]? {
            audiencesByID[version.id] ?? version.offer.family.flatMap { audiencesByID[$0] }
        }
    }

    /// The whole next listing of each channel that changes.
    private(set) var records: [Channel: [TargetRecord]] = [:]
    private(set) var packs: [PublicationReport.Resealed] = []
    /// What the other channels list then.
    private(set) var listed: [(channel: Channel, pack: PackManifest)] = []

    init() {}

    init(
        of session: AuthorSession, for recipients: Recipients, by publisher: PackPublisher
    ) async throws(VaultError) {
        for channel in session.settings.structure.channels.dropFirst() {
            let listing = session.published.ownListing(in: channel)
            var next = listing.foreign
            var isChanged = false
            for (old, versions) in try await Self.resealed(listing.packs, for: recipients, by: publisher) {
                listed += versions.map { (channel, $0) }
                guard let first = versions.first, versions != [old.pack] + old.otherVersions else {
                    next.append(old.target)
                    continue
                }
                isChanged = true
                next.append(try ListedPack(first, otherVersions: Array(versions.dropFirst())).target)
                for (before, after) in zip([old.pack] + old.otherVersions, versions) where before != after {
                    packs.append(
                        PublicationReport.Resealed(
                            channel: channel, id: after.id, version: after.version,
                            droppedKeys: publisher.keys.holders(of: before.slots, without: after.slots)))
                }
            }
            if isChanged { records[channel] = next }
        }
    }

    mutating func name(by names: PackNames) {
        for index in packs.indices { packs[index].name = names[listed: packs[index].id]?.name }
    }

    /// All packs of a channel, of each all versions; the table of names last, which is for the readers of the others.
    static func resealed(
        _ packs: [ListedPack], for recipients: Recipients, by publisher: PackPublisher
    ) async throws(VaultError) -> [(old: ListedPack, versions: [PackManifest])] {
        var resealed: [(old: ListedPack, versions: [PackManifest])] = []
        for old in packs where !old.pack.isNamesTable {
            var versions: [PackManifest] = []
            for version in [old.pack] + old.otherVersions {
                versions.append(try await Self.resealed(version, for: recipients, by: publisher))
            }
            resealed.append((old, versions))
        }
        let readable = resealed.flatMap(\.versions)
        for old in packs where old.pack.isNamesTable {
            resealed.append(
                (old, [try await publisher.reseal(namesTable: old.pack, forReadersOf: readable)]))
        }
        return resealed
    }

    /// As it is where no key opens it: a replaced key stays in its slots then, which the publication says.
    private static func resealed(
        _ version: PackManifest, for recipients: Recipients, by publisher: PackPublisher
    ) async throws(VaultError) -> PackManifest {
        let slots = recipients[version.contentKeyID]
        guard let audiences = slots == nil ? recipients.audiences(of: version) : [] else { return version }
        do throws(VaultError) {
            // The slots of one key are equal, those of another one with its ID differ.
            let resealed = try await publisher.keep(version, slots: slots, for: audiences)
            return Set(resealed.slots) == Set(version.slots) ? version : resealed
        } catch {
            guard error.category == .key else { throw error }
            return version
        }
    }
}
