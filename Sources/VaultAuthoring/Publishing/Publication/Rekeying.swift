import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The keys that listed packs are sealed for. A pack has the same audiences in every channel, whatever version the channel lists.
struct Recipients {
    private var slotsByKey: [ContentKeyID: [KeySlot]] = [:]
    private var sources: [PackID: DeclaredSource] = [:]
    /// Whether every pack gets new slots, also those of no source; else only those of the named sources.
    let includesAll: Bool
    /// The keys of all packs that were noted.
    private(set) var keys: Set<KeyID> = []

    /// What the sources are sealed for.
    ///
    /// - Parameters:
    ///   - ids: of the sources; nil for all.
    ///   - listed: packs with present slots, the first of each content key.
    ///   - names: under which the sources are listed.
    init(
        declaredBy settings: VaultSettings, only ids: Set<PackID>? = nil,
        listedAs names: OpaqueNames, sealedAs listed: [PackManifest] = []
    ) throws(VaultError) {
        includesAll = ids == nil
        slotsByKey = Dictionary(listed.map { ($0.contentKeyID, $0.slots) }) { first, _ in first }
        for source in settings.sources where ids?.contains(source.id) ?? true {
            for id in try names.listedIDs(of: source.id) { sources[id] = source }
        }
    }

    mutating func note(_ pack: PackManifest) {
        slotsByKey[pack.contentKeyID] = pack.slots
        keys.formUnion(pack.slots.map(\.keyID))
    }

    /// The slots of packs with this content key.
    subscript(key: ContentKeyID) -> [KeySlot]? { slotsByKey[key] }

    /// Nil for a version of no source.
    func source(of version: PackManifest) -> DeclaredSource? {
        source(listedAs: version.id) ?? version.offer.family.flatMap(source(listedAs:))
    }

    /// Nil for an ID of no source.
    func source(listedAs id: PackID) -> DeclaredSource? { sources[id] }
}

/// Listed versions whose slots stay as they are, since no key here opens them.
struct ClosedPacks {
    private var packs: [SHA256Digest: PackManifest] = [:]
    /// Why the first of them could not be opened.
    private var reason: VaultError?

    fileprivate mutating func note(_ pack: PackManifest, _ error: VaultError) {
        packs[pack.sha256] = pack
        reason = reason ?? error
    }

    func warnings(naming names: PackNames) -> [Finding] {
        guard let reason else { return [] }
        let texts = packs.values.sorted { ($0.id, $0.version) < ($1.id, $1.version) }.map { pack in
            "'\(names[listed: pack.id]?.name ?? pack.id)' version \(pack.version)"
        }
        return [
            .warning(
                "closed-pack",
                "no key here opens what is listed, and these stay sealed for the keys that they have: \(texts.listed(upTo: 6)); \(reason.place): \(reason.problem)",
                at: "keys",
                remedy: VaultFolder.lostKeyRemedy)
        ]
    }
}

extension PackPublisher {
    /// Packs of a channel with the present slots, with all versions of each.
    fileprivate func rekeyed(
        _ packs: [ListedPack], for recipients: Recipients, _ tables: inout ContinuedTables,
        _ closed: inout ClosedPacks
    ) async throws(VaultError) -> [(old: ListedPack, versions: [PackManifest])] {
        var rekeyed: [(old: ListedPack, versions: [PackManifest])] = []
        for old in packs.namesTableLast {
            var versions: [PackManifest] = []
            if old.pack.isNamesTable {
                let readable = rekeyed.flatMap(\.versions)
                versions = [try await rekey(namesTable: old.pack, forReadersOf: readable, &tables)]
            } else {
                for version in old.versions {
                    versions.append(try await self.rekeyed(version, for: recipients, &closed))
                }
            }
            rekeyed.append((old, versions))
        }
        return rekeyed
    }

    /// Unchanged if no key opens the pack: a replaced key then stays in its slots, and the publication warns of that. Throws `.key` if
    /// a key to seal for can't be read.
    private func rekeyed(
        _ version: PackManifest, for recipients: Recipients, _ closed: inout ClosedPacks
    ) async throws(VaultError) -> PackManifest {
        guard recipients.includesAll || recipients.source(of: version) != nil else { return version }
        var rekeyed = version
        if let source = recipients.source(of: version) {
            rekeyed.offer.isHeld = version.offer.isHeld && source.isHeld
        }
        if let slots = recipients[version.contentKeyID] {
            rekeyed.slots = slots
        } else {
            let key: ContentKey
            do throws(VaultError) { key = try await keys.openers.contentKey(of: version) } catch {
                guard error.category == .key, !error.isUnreadKey else { throw error }
                closed.note(version, error)
                return version
            }
            rekeyed.slots =
                if let source = recipients.source(of: version) {
                    try await ContentKeyChoice.slots(
                        of: key, for: keys.recipients(source.audiences(of: version)))
                } else {
                    try await keys.slots(of: key, succeeding: version.slots)
                }
        }
        // The slots of one key are equal, those of another one with its ID differ. Their order does not count.
        if Set(rekeyed.slots) == Set(version.slots) { rekeyed.slots = version.slots }
        return rekeyed
    }
}

/// New slots for what channels list already. Only metadata change.
struct ChannelRekeying {
    /// The whole next listing of each channel that changes.
    private(set) var records: [Channel: [TargetRecord]] = [:]
    private(set) var packs: [PublicationReport.Rekeyed] = []
    /// What these channels list then.
    private(set) var listed: [(channel: Channel, pack: PackManifest)] = []
    private(set) var closed = ClosedPacks()

    init() {}

    /// - Parameters:
    ///   - recipients: of the packs of the sources.
    ///   - given: the numbers that packs have, also in this run.
    init(
        of channels: some Sequence<Channel>, in session: AuthorSession, for recipients: Recipients,
        by publisher: PackPublisher, _ given: GivenVersions
    ) async throws(VaultError) {
        var tables = try ContinuedTables(after: given, in: session)
        for channel in channels {
            let listing = session.published.ownPacks(in: channel)
            var next = listing.otherTargets
            var isChanged = false
            for (old, versions) in try await publisher.rekeyed(
                listing.packs, for: recipients, &tables, &closed)
            {
                listed += versions.map { (channel, $0) }
                guard versions != old.versions, let new = try ListedPack(versions) else {
                    next.append(old.target)
                    continue
                }
                isChanged = true
                next.append(new.target)
                for (before, after) in zip(old.versions, versions) where before != after {
                    packs.append(
                        PublicationReport.Rekeyed(
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
}

/// An earlier listing of a channel, for the present keys.
struct RestoredState {
    let listing: OwnPacks
    let snapshot: PublishedSnapshot
    private(set) var warnings: [Finding] = []

    /// - Throws: `missing`, `notHosted` or `corrupt` for a pack whose file is not there any more.
    init(
        _ earlier: OwnPacks, under snapshot: PublishedSnapshot, in session: AuthorSession,
        sealingInto output: FilePath?
    ) async throws(VaultError) {
        self.snapshot = snapshot
        let publisher = try await PackPublisher(for: session, sealingInto: output)
        let keys = publisher.keys
        let present = ([session.sourceListing] + session.promotedListings)
            .flatMap(\.packs).flatMap(\.versions)
        let current = keys.holders(of: present.flatMap(\.slots))
        for version in earlier.packs.flatMap(\.versions) { try await publisher.files.require(version) }
        let before = try await EarlierPacks(of: session)
        // Only to recognize what is listed: no table is continued.
        let names = try await OpaqueNames(false, after: before, by: publisher)
        let recipients = try Recipients(declaredBy: session.settings, listedAs: names, sealedAs: present)
        var records = earlier.otherTargets
        var opened: [SlotHolder: [String]] = [:]
        var tables = try ContinuedTables(after: before.given, in: session)
        var closed = ClosedPacks()
        for (_, versions) in try await publisher.rekeyed(earlier.packs, for: recipients, &tables, &closed) {
            for version in versions {
                for key in keys.holders(of: version.slots).subtracting(current) {
                    opened[key, default: []].append("'\(version.id)' version \(version.version)")
                }
            }
            if let listed = try ListedPack(versions) { records.append(listed.target) }
        }
        listing = OwnPacks(of: records)
        warnings = opened.sorted { $0.key.text < $1.key.text }.map { key, packs in
            .warning(
                "key-opens-again",
                "the vault key \(key.text), which nothing that is listed now is sealed for, opens \(packs.listed(upTo: 6)) again",
                at: "keys", remedy: "give a key that opens these, to seal them for others")
        }
    }
}
