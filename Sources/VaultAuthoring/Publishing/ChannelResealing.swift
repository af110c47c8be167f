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
        private var keyIDs: [[String]: Set<KeyID>] = [:]

        mutating func note(_ pack: PackManifest, for audiences: [String]) {
            slotsByKey[pack.contentKeyID] = pack.slots
            audiencesByID[pack.id] = audiences
            if let family = pack.offer.family { audiencesByID[family] = audiences }
            keyIDs[audiences] = Set(pack.slots.map(\.keyID))
        }

        init() {}

        /// By what is listed now, the first of each content key.
        init(of listed: [PackManifest], declaredBy settings: VaultSettings) {
            slotsByKey = Dictionary(listed.map { ($0.contentKeyID, $0.slots) }) { first, _ in first }
            for pack in settings.packs { audiencesByID[pack.id] = pack.audiences }
            for tree in settings.resources { audiencesByID[tree.family] = tree.audiences }
        }

        /// All that something is sealed for.
        var keys: Set<KeyID> { keyIDs.values.reduce(into: []) { $0.formUnion($1) } }

        /// The slots of packs with this content key.
        subscript(key: ContentKeyID) -> [KeySlot]? { slotsByKey[key] }

        /// The audiences that an earlier version must be sealed for again; nil where it is sealed for them, or is none of the sources'.
        fileprivate func missed(by version: PackManifest) -> [String]? {
            guard
                let audiences = audiencesByID[version.id]
                    ?? version.offer.family.flatMap({ audiencesByID[$0] }),
                keyIDs[audiences] != Set(version.slots.map(\.keyID))
            else { return nil }
            return audiences
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
                    let kept = Set(after.slots.map(\.keyID))
                    packs.append(
                        PublicationReport.Resealed(
                            channel: channel, id: after.id, version: after.version,
                            droppedKeys: before.slots.map(\.keyID).filter { !kept.contains($0) }))
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
        guard let audiences = slots == nil ? recipients.missed(by: version) : [] else { return version }
        do throws(VaultError) {
            return try await publisher.keep(version, slots: slots, for: audiences)
        } catch {
            guard error.category == .key else { throw error }
            return version
        }
    }
}

/// What vault keys still open that a publication drops, and those that no source is sealed for.
struct DroppedKeys {
    /// Dropped by this publication.
    private let dropped: Set<KeyID>
    private let keys: Set<KeyID>
    /// The listed packs that each of them still opens: names with their places, and IDs.
    private var open: [KeyID: [(id: PackID, text: String)]] = [:]

    /// - Parameters:
    ///   - dropped: those that some pack is no longer sealed for.
    ///   - others: those that packs in no source, or that no key here opens, are still sealed for.
    init(_ dropped: Set<KeyID>, and others: Set<KeyID>) {
        (self.dropped, keys) = (dropped, dropped.union(others))
    }

    mutating func note(_ pack: PackManifest, as name: PackID?, _ place: String) {
        for key in Set(pack.slots.map(\.keyID)).intersection(keys) {
            open[key, default: []].append((pack.id, "'\(name ?? pack.id)' version \(pack.version) \(place)"))
        }
    }

    /// Whether a version of the pack is still listed for the key somewhere.
    func stillOpens(_ key: KeyID, _ id: PackID) -> Bool { open[key]?.contains { $0.id == id } ?? false }

    var warnings: [Warning] {
        let sorted = keys.sorted { $0.description < $1.description }
        var warnings = sorted.compactMap { key -> Warning? in
            guard let open = open[key] else { return nil }
            return Warning(
                "the vault key '\(key)' still opens what is listed: \(open.map(\.text).listed(upTo: 6)); give a key that opens these,"
                    + " promote other versions, or let the team seal them for others")
        }
        if !dropped.isEmpty {
            let names = sorted.filter(dropped.contains).map { "'\($0)'" }.listed(upTo: 4)
            warnings.append(
                Warning(
                    "holders of \(names) still read what was published before, and later versions of packs, which keep their content"
                        + " keys; under a new ID a pack gets a new one. Earlier metadata with the old slots stay at the host until their"
                        + " snapshots have expired and all but the last version of each pack are pruned; those that list a pack which"
                        + " is listed no more stay longer",
                    hint: .pruningToLastVersions))
        }
        return warnings
    }
}
