import PackSealing
import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultKeys
import VaultSite

/// The next content of a vault's listing: packs are sealed, nothing is signed.
struct PublicationProposal {
    private(set) var records: [TargetRecord]
    private(set) var packs: [PublicationReport.Pack] = []
    private(set) var warnings: [Finding] = []
    /// Of all packs of the listing.
    private var slots: [KeySlot] = []
    private var recipients = ChannelResealing.Recipients()
    /// The same slots in the other channels.
    private(set) var resealing = ChannelResealing()
    private let compatible: CompatibleVersions
    private(set) var changed = ChangedPacks()
    /// What 'plan' finds in the sources.
    var findings: [Finding] = []
    private(set) var restorations: [PublicationReport.Restoration] = []
    /// What quiet IDs stand for, as far as a key here opens their tables.
    private(set) var shown = PackNames()

    init(
        for session: AuthorSession, _ deliveries: [TeamDelivery], by publisher: PackPublisher,
        acceptingRemovedKeys acceptsRemovedKeys: Bool, onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        let (vault, settings) = (session.vault, session.settings)
        let earlier = try await EarlierPacks(of: session, by: publisher)
        let listing = session.sourceListing
        records = listing.foreign
        compatible = CompatibleVersions(supported: settings.supportedApps)
        var names: QuietNames
        if let pin = settings.pin {
            let restored = try await session.listing(pin, acceptingRemovedKeys: acceptsRemovedKeys)
            // What was listed then has its names of then, whatever the settings say of the sources.
            names = try await QuietNames(restored.hasQuietNames, after: earlier, by: publisher)
            // For the report alone.
            for pack in settings.packs { _ = try names.conceal(pack.id, pack.offer) }
            records = restored.foreign
            let recipients = try DeclaredRecipients(of: settings, named: names)
            try await list(restored.packs, after: earlier, naming: names, by: publisher) { recipients[$0] }
            restorations = [
                .init(subject: .channel(settings.structure.sourceChannel), snapshot: pin.snapshot)
            ]
        } else {
            names = try await QuietNames(settings.hasQuietNames, after: earlier, by: publisher)
            try await seal(
                session, after: earlier, naming: &names, by: publisher,
                acceptingRemovedKeys: acceptsRemovedKeys, onPack: onPack)
        }
        let made = Set(packs.map(\.id))
        let gone = listing.packs.map(\.pack).filter { !made.contains($0.id) }
        resealing = try await ChannelResealing(of: session, for: recipients, by: publisher)
        shown = try await publisher.complete(
            names.names, for: (packs.map(\.id) + gone.map(\.id)) + resealing.listed.map(\.pack.id),
            after: earlier)
        for old in gone {
            packs.append(
                Self.move(of: shown.shownID(of: old.id), to: deliveries)
                    ?? PublicationReport.Pack(of: old, .removed))
        }
        for index in packs.indices { packs[index].name = shown[listed: packs[index].id]?.name }
        resealing.name(by: shown)
        await warnOfDroppedKeys(
            in: settings.structure.sourceChannel, deliveries, shown, publisher.keys)
        try await warnOfRetiredKeys(after: listing.packs.map(\.pack), earlier.history, by: publisher)
        try await changed.addCosts(to: &packs, after: earlier, by: publisher)
        warnings += Finding.uncountedUpdates(changed.uncounted)
        warnings += session.warnings
        let teams = try await TeamPathConflicts(
            of: deliveries, in: settings, of: vault, keys: publisher.keys.own)
        warnings += Finding.conflicting(teams.conflicts)
        warnings += teams.notices
        if let warning = Self.readableTags(of: settings) { warnings.append(warning) }
        if let names = NewNames.finding(from: listing, to: OwnListing(of: records)) { warnings.append(names) }
        let own = records.compactMap { try? ListedPack($0).pack }.map(names.names.completing)
        warnings += TeamKeyMismatch.all(among: deliveries, beside: TagKeys(of: own))
    }

    /// Lists what the sources are, except those that are pinned.
    private mutating func seal(
        _ session: AuthorSession, after earlier: EarlierPacks, naming names: inout QuietNames,
        by publisher: PackPublisher, acceptingRemovedKeys acceptsRemovedKeys: Bool,
        onPack: (PackID, UInt64) -> Void
    ) async throws(VaultError) {
        let (vault, settings) = (session.vault, session.settings)
        var declared: [(name: PackID, pack: VaultSettings.Pack)] = []
        for pack in settings.packs {
            var listed = pack
            (listed.id, listed.offer) = try names.conceal(pack.id, pack.offer)
            declared.append((pack.id, listed))
        }
        for (name, pack) in declared {
            onPack(name, 0)
            let result =
                if let version = pack.pin {
                    try await publisher.restore(
                        try await earlier.version(
                            version, listedAs: pack.id, declaredAs: name,
                            acceptingRemovedKeys: acceptsRemovedKeys),
                        as: pack, newest: earlier.published[pack.id])
                } else {
                    try await publisher.seal(pack, after: earlier) { done in onPack(name, done) }
                }
            if result.manifest.entryCount == 0, pack.pin == nil {
                warnings.append(
                    .warning(
                        "empty-source",
                        "the source of '\(name)' is empty: \(vault.path.pushing(pack.source))",
                        at: name.description, remedy: "put files there, or remove the pack from vault.json"))
            }
            try await add(
                result, after: earlier, for: pack.audiences, by: publisher, isPinned: pack.pin != nil)
        }
        for tree in settings.resources {
            if let pin = tree.pin {
                let restored = try await session.listing(
                    pin, of: tree.family, acceptingRemovedKeys: acceptsRemovedKeys)
                try await list(restored.packs, after: earlier, naming: names, by: publisher) { _ in
                    tree.audiences
                }
                restorations.append(.init(subject: .tree(tree.family), snapshot: pin.snapshot))
                continue
            }
            try await publisher.seal(tree, after: earlier, naming: &names, onPack: onPack) {
                result async throws(VaultError) in
                try await add(result, after: earlier, for: tree.audiences, by: publisher)
            }
            try await keepPacks(of: tree, after: earlier, by: publisher)
        }
        if let table = names.table {
            let result = try await publisher.seal(
                names.names, after: table, forReadersOf: listed, earlier)
            try list(result, beside: [], after: earlier, publisher.keys)
        }
    }

    /// What the listing has so far, of each pack all versions.
    private var listed: [PackManifest] {
        records.compactMap { try? ListedPack($0) }.flatMap { [$0.pack] + $0.otherVersions }
    }

    /// Lists packs again as they were listed once, for the keys of today.
    ///
    /// - Parameter audiences: of a pack; nil for one that no source declares: its slots stay as they were.
    private mutating func list(
        _ packs: [ListedPack], after earlier: EarlierPacks, naming names: QuietNames,
        by publisher: PackPublisher, for audiences: (PackManifest) -> [String]?
    ) async throws(VaultError) {
        let sorted = packs.sorted { $0.pack.id < $1.pack.id }
        // The table of names last, which is for the readers of the others.
        for listed in sorted.filter({ !$0.pack.isNamesTable }) + sorted.filter(\.pack.isNamesTable) {
            var versions: [PackManifest] = []
            for var version in [listed.pack] + listed.otherVersions {
                try await publisher.files.require(version)
                if version.isNamesTable {
                    version = try await restore(
                        namesTable: version, after: earlier, naming: names, by: publisher)
                } else if let names = audiences(version) {
                    version = try await publisher.keep(
                        version, slots: recipients[version.contentKeyID], for: names,
                        opening: earlier.packs(sharing: version.contentKeyID).first)
                    recipients.note(version, for: names)
                } else if let slots = recipients[version.contentKeyID] {
                    version.slots = slots
                }
                versions.append(version)
            }
            guard let pack = versions.first else { continue }
            slots += pack.slots
            records.append(try ListedPack(pack, otherVersions: Array(versions.dropFirst())).target)
            var report = PublicationReport.Pack(
                SealingResult(manifest: pack, reusedPieces: pack.pieceCount),
                after: earlier.listed[pack.id]?.pack, keys: publisher.keys, isPinned: true)
            report.others = versions.dropFirst().map {
                PublicationReport.Other(version: $0.version, apps: $0.offer.apps)
            }
            self.packs.append(report)
            changed.note(pack, after: earlier)
        }
    }

    /// The table of the packs that are listed so far. One that no key here opens gives way to what is known of their names: without
    /// its keys nobody could go on with it.
    private func restore(
        namesTable table: PackManifest, after earlier: EarlierPacks, naming names: QuietNames,
        by publisher: PackPublisher
    ) async throws(VaultError) -> PackManifest {
        guard let newest = names.table, await !publisher.canGoOn(after: table) else {
            return try await publisher.reseal(namesTable: table, forReadersOf: listed)
        }
        let ids = listed.map(\.id)
        var kept = PackNames()
        kept.complete(by: try await publisher.complete(names.names, for: ids, after: earlier), for: ids)
        return try await publisher.seal(kept, after: newest, forReadersOf: listed, earlier).manifest
    }

    /// Quiet names do not hide the tags that teams have.
    private static func readableTags(of settings: VaultSettings) -> Finding? {
        let teams = settings.structure.teams.filter { !$0.tags.isEmpty }
        guard settings.hasQuietNames, !teams.isEmpty else { return nil }
        let tags = Set(teams.flatMap(\.tags)).sorted().map { "'\($0.excerpt)'" }.listed(upTo: 4)
        return .warning(
            "readable-tags",
            "everybody can read the tags that \"teams\" grants, and those of the teams' packs: \(tags)",
            at: "teams", remedy: "\"quietNames\" hides the site's own")
    }

    private mutating func add(
        _ result: SealingResult, after earlier: EarlierPacks, for audiences: [String],
        by publisher: PackPublisher, isPinned: Bool = false
    ) async throws(VaultError) {
        let pack = result.manifest
        recipients.note(pack, for: audiences)
        var others: [PackManifest] = []
        if let listed = earlier.listed[pack.id] {
            let kept = compatible.kept(of: listed, notFor: [pack.offer.apps], except: [pack.version])
            others = try await keep(kept, for: audiences, by: publisher)
        }
        try list(result, beside: others, after: earlier, publisher.keys, isPinned: isPinned)
    }

    private mutating func list(
        _ result: SealingResult, beside others: [PackManifest], after earlier: EarlierPacks,
        _ keys: AuthorKeys, isPinned: Bool = false
    ) throws(VaultError) {
        let pack = result.manifest
        slots += pack.slots
        var report = PublicationReport.Pack(
            result, after: earlier.listed[pack.id]?.pack, keys: keys, isPinned: isPinned)
        report.others = others.map { PublicationReport.Other(version: $0.version, apps: $0.offer.apps) }
        records.append(try ListedPack(pack, otherVersions: others).target)
        packs.append(report)
        changed.note(pack, after: earlier)
    }

    private func keep(
        _ versions: [PackManifest], for audiences: [String], by publisher: PackPublisher
    ) async throws(VaultError) -> [PackManifest] {
        var kept: [PackManifest] = []
        for version in versions {
            kept.append(
                try await publisher.keep(version, slots: recipients[version.contentKeyID], for: audiences))
        }
        return kept
    }

    /// Packs that a resource tree makes no more stay listed for the versions of the app that the tree is not for.
    private mutating func keepPacks(
        of tree: ResourceTree, after earlier: EarlierPacks, by publisher: PackPublisher
    ) async throws(VaultError) {
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
            let kept = try await keep(versions, for: tree.audiences, by: publisher)
            guard let pack = kept.first else { continue }
            records.append(try ListedPack(pack, otherVersions: Array(kept.dropFirst())).target)
            var report = PublicationReport.Pack(of: pack, .unchanged)
            report.others = kept.dropFirst().map {
                PublicationReport.Other(version: $0.version, apps: $0.offer.apps)
            }
            packs.append(report)
        }
    }

    /// A key that leaked is dropped, and may open more than its owner thinks: also what stands in no source any more, each time.
    private mutating func warnOfDroppedKeys(
        in source: Channel, _ deliveries: [TeamDelivery], _ names: PackNames, _ keys: AuthorKeys
    ) async {
        var now: [SlotHolder: Set<PackID>] = [:]
        for (id, keys) in packs.map({ ($0.id, $0.droppedKeys) })
            + resealing.packs.map({ ($0.id, $0.droppedKeys) })
        {
            for key in keys { now[key, default: []].insert(id) }
        }
        // The vault's own keys are in use even where no pack is for them.
        let inUse = recipients.keys.union(((try? await keys.own.allKeys().vaultKeys) ?? []).map(\.id))
        var dropped = DroppedKeys(now, inUse: inUse)
        func note(_ pack: PackManifest, _ place: String) {
            dropped.note(
                pack, for: keys.holders(of: pack.slots), as: names[listed: pack.id]?.name, place)
        }
        for pack in listed { note(pack, "in the channel \(source)") }
        for (channel, pack) in resealing.listed { note(pack, "in the channel \(channel)") }
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

    /// A retired key may have been retired because it leaked.
    private mutating func warnOfRetiredKeys(
        after published: [PackManifest], _ history: PackHistory, by publisher: PackPublisher
    ) async throws(VaultError) {
        let current = Set(published.flatMap(\.slots).map(\.keyID))
        let new = Set(slots.map(\.keyID)).subtracting(current)
        guard !published.isEmpty, !new.isEmpty else { return }
        let ids = Set(published.map(\.id))
        do throws(VaultError) { try await publisher.files.host?.readWholeHistory(of: ids) } catch {
            guard error.category == .limit else { throw error }
            try await publisher.files.host?.readHistory(of: ids)
            warnings.append(
                Finding(
                    error.with(
                        problem:
                            "keys open packs that they did not open before; whether one of them was retired long ago is not known: \(error.problem)"
                    ), as: .warning))
        }
        for id in try history.keyIDs().intersection(new).sorted(by: { $0.description < $1.description }) {
            warnings.append(
                .warning(
                    "retired-key", "the vault key '\(id)' was retired, and opens packs again", at: "keys",
                    remedy: "publish without it: whoever kept it reads what is published now"))
        }
    }

    /// A pack that a team delivers from now on.
    private static func move(of name: PackID, to deliveries: [TeamDelivery]) -> PublicationReport.Pack? {
        for delivery in deliveries {
            guard let listed = delivery.pack(name) else { continue }
            return PublicationReport.Pack(of: listed, .moved, team: delivery.team.role.name)
        }
        return nil
    }
}
