import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite

/// The next content of a vault's listing: packs are sealed, nothing is signed.
struct PublicationProposal {
    private let session: AuthorSession
    private let deliveries: [TeamDelivery]
    private let publisher: PackPublisher
    private let earlier: EarlierPacks
    private let compatible: CompatibleVersions
    private var names: OpaqueNames

    private(set) var records: [TargetRecord]
    private(set) var packs: [PublicationReport.Pack] = []
    private(set) var warnings: [Finding] = []
    /// Of all packs of the listing.
    private var slots: [KeySlot] = []
    private var recipients: Recipients
    /// The same slots in the other channels.
    private(set) var rekeying = ChannelRekeying()
    private(set) var changed = ChangedPacks()
    private(set) var restorations: [PublicationReport.Restoration] = []
    /// The names of opaque IDs, as far as a given key opens their tables.
    private(set) var shown = PackNames()
    /// The packs that are listed, with their offers, also where names are opaque.
    private(set) var offered: [PackManifest] = []

    init(
        for session: AuthorSession, _ deliveries: [TeamDelivery], by publisher: PackPublisher,
        onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        (self.session, self.deliveries, self.publisher) = (session, deliveries, publisher)
        earlier = try await EarlierPacks(of: session)
        let settings = session.settings
        compatible = CompatibleVersions(supported: settings.supportedApps)
        let listing = session.sourceListing
        let restored: OwnPacks? = if let pin = settings.pin { try await session.listing(pin) } else { nil }
        // A restored listing keeps its own names, whatever the settings say about opaque names.
        names = try await OpaqueNames(
            restored?.hasOpaqueNames ?? settings.hasOpaqueNames, after: earlier, by: publisher)
        recipients = try Recipients(declaredBy: settings, listedAs: names)
        records = (restored ?? listing).otherTargets
        if let pin = settings.pin, let restored {
            // Used in the report only.
            for pack in settings.packs { _ = try names.listedForm(of: pack.id, pack.offer) }
            try await list(restored.packs, of: recipients.source)
            restorations = [
                .init(subject: .channel(settings.structure.sourceChannel), snapshot: pin.snapshot)
            ]
        } else {
            try await listSources(onPack: onPack)
        }
        let made = Set(packs.map(\.id))
        let gone = listing.packs.map(\.pack).filter { !made.contains($0.id) }
        rekeying = try await ChannelRekeying(
            of: settings.structure.channels.dropFirst(), in: session, for: recipients, by: publisher,
            earlier.given.adding(listed))
        shown = try await publisher.complete(
            names.names, for: (packs.map(\.id) + gone.map(\.id)) + rekeying.listed.map(\.pack.id),
            after: earlier)
        packs += gone.map { move(of: $0) ?? PublicationReport.Pack(of: $0, .removed) }
        for index in packs.indices { packs[index].name = shown[listed: packs[index].id]?.name }
        rekeying.name(by: shown)
        await warnOfDroppedKeys()
        try await warnOfRetiredKeys(after: listing.packs.map(\.pack))
        try await changed.addCosts(to: &packs, after: earlier, by: publisher)
        warnings += Finding.uncountedUpdates(changed.uncounted)
        warnings += session.warnings
        let teams = try await TeamPathConflicts(
            of: deliveries, in: settings, of: session.vault, keys: publisher.keys.own)
        warnings += Finding.conflicting(teams.conflicts) + teams.notices
        if let warning = settings.readableTags { warnings.append(warning) }
        if let names = NewNames.finding(from: listing, to: OwnPacks(of: records)) { warnings.append(names) }
        offered = records.compactMap { try? ListedPack($0).pack }.map(names.names.completing)
        warnings += deliveries.keyMismatches(beside: TagKeys(of: offered))
    }

    /// A pack that a team delivers from now on.
    private func move(of old: PackManifest) -> PublicationReport.Pack? {
        for delivery in deliveries {
            guard let listed = delivery.pack(shown.shownID(of: old.id)) else { continue }
            return PublicationReport.Pack(of: listed, .moved, team: delivery.team.role.name)
        }
        return nil
    }
}

// MARK: - Sources

extension PublicationProposal {
    /// Lists the content of the sources, except pinned ones.
    private mutating func listSources(onPack: (PackID, UInt64) -> Void) async throws(VaultError) {
        var declared = session.settings.packs
        for (index, pack) in declared.enumerated() {
            (declared[index].id, declared[index].offer) = try names.listedForm(of: pack.id, pack.offer)
        }
        for pack in declared {
            let name = pack.source.id
            onPack(name, 0)
            let result =
                if let version = pack.pin {
                    try await publisher.restore(
                        try await earlier.version(version, listedAs: pack.id, declaredAs: name), as: pack,
                        newest: earlier.listed[pack.id]?.pack)
                } else {
                    try await publisher.seal(pack, after: earlier) { done in onPack(name, done) }
                }
            if result.manifest.entryCount == 0, pack.pin == nil {
                let source = session.vault.path.pushing(pack.source.path)
                warnings.append(
                    .warning(
                        "empty-source", "the source of '\(name)' is empty: \(source)", at: name.description,
                        remedy: "put files there, or remove the pack from vault.json"))
            }
            try await list(result, of: pack.source, isPinned: pack.pin != nil)
        }
        for tree in session.settings.resources { try await list(tree, onPack: onPack) }
        if let table = names.table {
            try list(await publisher.seal(names.names, after: table, forReadersOf: listed, earlier.given))
        }
    }

    private mutating func list(
        _ tree: ResourceTree, onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        if let pin = tree.pin {
            let restored = try await session.listing(pin, of: tree.family)
            try await list(restored.packs) { _ in tree.source }
            restorations.append(.init(subject: .tree(tree.family), snapshot: pin.snapshot))
            return
        }
        let publisher = publisher
        var names = names
        try await publisher.seal(tree, after: earlier, naming: &names, onPack: onPack) {
            result async throws(VaultError) in
            try await list(result, of: tree.source)
        }
        self.names = names
        try await keepPacks(of: tree)
    }

    /// Lists a pack that is made of a source, with the versions that stay beside it.
    private mutating func list(
        _ result: SealingResult, of source: DeclaredSource, isPinned: Bool = false
    ) async throws(VaultError) {
        let pack = result.manifest
        recipients.note(pack)
        var others: [PackManifest] = []
        if let listed = earlier.listed[pack.id] {
            let kept = compatible.kept(of: listed, notFor: [pack.offer.apps], except: [pack.version])
            others = try await keep(kept, of: source)
        }
        try list(result, beside: others, isPinned: isPinned)
    }

    private mutating func list(
        _ result: SealingResult, beside others: [PackManifest] = [], isPinned: Bool = false
    ) throws(VaultError) {
        let pack = result.manifest
        slots += pack.slots
        var report = PublicationReport.Pack(
            result, after: earlier.listed[pack.id]?.pack, keys: publisher.keys, isPinned: isPinned)
        report.isNewFile = !isPinned && !earlier.lists(pack)
        try add(report, pack, beside: others)
        changed.note(pack, after: earlier)
    }

    private mutating func add(
        _ report: PublicationReport.Pack, _ pack: PackManifest, beside others: [PackManifest]
    ) throws(VaultError) {
        var report = report
        report.others = others.map { PublicationReport.Other(version: $0.version, apps: $0.offer.apps) }
        records.append(try ListedPack(pack, otherVersions: others).target)
        packs.append(report)
    }

    private func keep(
        _ versions: [PackManifest], of source: DeclaredSource
    ) async throws(VaultError) -> [PackManifest] {
        var kept: [PackManifest] = []
        for version in versions {
            kept.append(
                try await publisher.keep(version, slots: recipients[version.contentKeyID], of: source))
        }
        return kept
    }

    /// Packs that a resource tree no longer makes stay listed for the versions of the app that the tree is not for.
    private mutating func keepPacks(of tree: ResourceTree) async throws(VaultError) {
        let made = Set(packs.map(\.id))
        let gone = earlier.listed.values.filter {
            $0.pack.offer.family == tree.family && !made.contains($0.pack.id)
        }
        for listed in gone.sorted(by: { $0.pack.id < $1.pack.id }) {
            let versions = compatible.kept(of: listed, notFor: [tree.apps], except: []).map { version in
                var version = version
                version.offer.apps = version.offer.apps.outside(tree.apps)
                return version
            }
            let kept = try await keep(versions, of: tree.source)
            guard let pack = kept.first else { continue }
            try add(PublicationReport.Pack(of: pack, .unchanged), pack, beside: Array(kept.dropFirst()))
        }
    }
}

// MARK: - What was listed before

extension PublicationProposal {
    /// The listing so far, with all versions of each pack.
    private var listed: [PackManifest] {
        records.compactMap { try? ListedPack($0) }.flatMap(\.versions)
    }

    /// Lists packs again as they were listed before, for the present keys.
    ///
    /// - Parameter source: of a pack; nil for one that no source makes: its slots stay as they were.
    private mutating func list(
        _ packs: [ListedPack], of source: (PackManifest) -> DeclaredSource?
    ) async throws(VaultError) {
        let sorted = packs.sorted { $0.pack.id < $1.pack.id }
        for listed in sorted.namesTableLast {
            var versions: [PackManifest] = []
            for var version in listed.versions {
                try await publisher.files.require(version)
                if version.isNamesTable {
                    version = try await restore(namesTable: version)
                } else if let source = source(version) {
                    version = try await publisher.keep(
                        version, slots: recipients[version.contentKeyID], of: source,
                        opening: earlier.packs(sharing: version.contentKeyID).first)
                    recipients.note(version)
                } else if let slots = recipients[version.contentKeyID] {
                    version.slots = slots
                }
                versions.append(version)
            }
            guard let pack = versions.first else { continue }
            try list(
                SealingResult(manifest: pack, reusedPieces: pack.pieceCount),
                beside: Array(versions.dropFirst()), isPinned: true)
        }
    }

    /// The table of the packs that are listed so far. If no given key opens the table, it is replaced by a table of the known
    /// names, because it could not be continued.
    private func restore(namesTable table: PackManifest) async throws(VaultError) -> PackManifest {
        guard let newest = names.table, await !publisher.canGoOn(after: table) else {
            var tables = try ContinuedTables(after: earlier.given, in: session)
            return try await publisher.rekey(namesTable: table, forReadersOf: listed, &tables)
        }
        let ids = listed.map(\.id)
        var kept = PackNames()
        kept.complete(by: try await publisher.complete(names.names, for: ids, after: earlier), for: ids)
        return try await publisher.seal(kept, after: newest, forReadersOf: listed, earlier.given).manifest
    }
}

// MARK: - Warnings

extension PublicationProposal {
    /// A leaked key that is dropped may open more than its owner expects, also packs without a source. Each publication says so.
    private mutating func warnOfDroppedKeys() async {
        let keys = publisher.keys
        var now: [SlotHolder: Set<PackID>] = [:]
        for (id, keys) in packs.map({ ($0.id, $0.droppedKeys) })
            + rekeying.packs.map({ ($0.id, $0.droppedKeys) })
        {
            for key in keys { now[key, default: []].insert(id) }
        }
        // The vault's own keys are in use even if no pack is sealed for them.
        let inUse = recipients.keys.union(((try? await keys.own.allKeys().vaultKeys) ?? []).map(\.id))
        var dropped = DroppedKeys(now, inUse: inUse)
        func note(_ pack: PackManifest, _ channel: Channel) {
            dropped.note(
                pack, for: keys.holders(of: pack.slots), as: shown[listed: pack.id]?.name,
                "in the channel \(channel)")
        }
        for pack in listed { note(pack, session.settings.structure.sourceChannel) }
        for (channel, pack) in rekeying.listed { note(pack, channel) }
        for delivery in deliveries {
            for listed in delivery.reachablePacks.packs {
                let holders = keys.holders(of: listed.pack.slots).intersection(now.keys)
                dropped.note(
                    listed.pack, for: holders, as: nil, "of the team \(delivery.team.role)")
            }
        }
        for index in packs.indices {
            let id = packs[index].id
            packs[index].droppedKeys.removeAll { dropped.stillOpens($0, id) }
        }
        warnings += dropped.warnings
    }

    /// A key that was taken out of use may have leaked. The key of held packs is out of use between two of them.
    private mutating func warnOfRetiredKeys(after published: [PackManifest]) async throws(VaultError) {
        let current = Set(published.flatMap(\.slots).map(\.keyID))
        let held = try? await publisher.keys.recipients([Audiences.held]).allKeys()
        let new = Set(slots.map(\.keyID)).subtracting(current).subtracting((held?.vaultKeys ?? []).map(\.id))
        guard !published.isEmpty, !new.isEmpty else { return }
        let ids = Set(published.map(\.id))
        do throws(VaultError) { try await session.host?.readWholeHistory(of: ids) } catch {
            guard error.category == .limit else { throw error }
            try await session.host?.readHistory(of: ids)
            warnings.append(
                Finding(
                    error.with(
                        problem:
                            "keys open packs that they did not open before; whether one of them was retired long ago is not known: \(error.problem)"
                    ), as: .warning))
        }
        for id in try earlier.history.keyIDs().intersection(new).sorted(by: {
            $0.description < $1.description
        }) {
            warnings.append(
                .warning(
                    "retired-key", "the vault key '\(id)' was taken out of use, and opens packs again",
                    at: "keys",
                    remedy:
                        "if it leaked, publish without it: someone who kept it reads what is published with it"
                ))
        }
    }
}
