public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultFileSystem
public import VaultSite

/// Seals listed packs again, with the same content and IDs, under fresh content keys, in all channels at once. A replaced content key
/// opens no version that is listed afterwards.
///
/// The sources are not read: each listed version is opened, and sealed under the next numbers of its pack.
public struct Resealing: Sendable {
    public enum Selection: Sendable {
        /// All packs of the vault's own; with opaque names the tables of names, too.
        case all
        /// Packs, and resource trees, whose packs share a content key, by their IDs.
        case only([PackID])
    }

    private let selection: Selection
    private let request: AuthorRequest

    public init(_ selection: Selection, _ request: AuthorRequest) {
        (self.selection, self.request) = (selection, request)
    }

    /// - Parameters:
    ///   - onStart: called with what will be sealed, before anything is.
    ///   - observe: called with the progress.
    /// - Throws: `missing` for an ID that no channel lists; `usage` for a single pack of a resource tree, and for what is restored;
    ///   `key` where no key here opens a pack.
    public func run(
        in vault: VaultFolder, onStart: (ResealingReport) -> Void,
        observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> ResealingReport {
        try await vault.carryOut(request) { session, output async throws(VaultError) in
            let plan = try await ResealingPlan(of: selection, in: session)
            let old = Set(plan.old.map(\.sha256))
            try await session.requireContentKeys { old.contains($0.sha256) }
            guard !request.isDryRun else {
                // No pack is read; whether their keys are here is known all the same.
                let publisher = try await PackPublisher(for: session)
                var keys = try FreshContentKeys(of: plan, in: session, by: publisher)
                for old in plan.old { _ = try await keys.choice(for: old) }
                var report = plan.report
                report.warnings += keys.warnings
                return report
            }
            onStart(plan.report)
            return try await session.reseal(plan, into: output, observe)
        }
    }
}

/// What is sealed under fresh content keys.
public struct ResealingReport: Sendable {
    public struct Pack: Sendable {
        /// As it is listed.
        public let id: PackID
        /// What an opaque ID stands for.
        public let name: PackID?
        /// The version that is replaced.
        public let earlier: UInt64
        /// The version that takes its place.
        public internal(set) var version: UInt64
        /// In bytes; before it is sealed, of the earlier version.
        public internal(set) var length: UInt64
        /// All that list it.
        public let channels: [Channel]
    }

    public internal(set) var packs: [Pack]
    /// What a client with all packs of a channel downloads, in bytes; of several channels the largest number.
    public let download: UInt64
    /// The next upload, in bytes.
    public var upload: UInt64 { packs.saturatingSum(\.length) }
    /// What each retired vault key opens afterwards.
    public internal(set) var exposures: [KeyExposure] = []
    public internal(set) var written: [String] = []
    public internal(set) var warnings: [Finding]
}

/// The listed versions that are sealed again, by ID, the oldest of each first: so later versions keep the higher numbers.
private struct ResealingPlan {
    let old: [PackManifest]
    let names: OpaqueNames
    /// What opaque IDs stand for, as far as a given key opens a table.
    let shown: PackNames
    let given: GivenVersions
    fileprivate(set) var report: ResealingReport

    init(of selection: Resealing.Selection, in session: AuthorSession) async throws(VaultError) {
        let publisher = try await PackPublisher(for: session)
        let earlier = try await EarlierPacks(of: session)
        given = earlier.given
        names = try await OpaqueNames(session.settings.hasOpaqueNames, after: earlier, by: publisher)
        let own = try session.listedVersions().filter { $0.team == nil }
        let chosen = try Self.chosen(selection, of: own, in: session.settings, naming: names)
        let byFile = Dictionary(grouping: chosen, by: \.pack.sha256)
        old = byFile.values.compactMap(\.first?.pack).sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        shown = await publisher.names(of: own.map(\.pack))
        var counts: [PackID: UInt64] = [:]
        let (given, shown) = (given, shown)
        let packs = old.map { pack in
            counts[pack.id, default: 0] += 1
            return ResealingReport.Pack(
                id: pack.id, name: shown[listed: pack.id]?.name, earlier: pack.version,
                version: given.last(of: pack.id) + (counts[pack.id] ?? 0), length: pack.length,
                channels: (byFile[pack.sha256] ?? []).map(\.channel))
        }
        let downloads = Dictionary(grouping: chosen, by: \.channel).values.map {
            $0.saturatingSum(\.pack.length)
        }
        report = ResealingReport(
            packs: packs, download: downloads.max() ?? 0,
            warnings: session.warnings + Self.warnings(of: session.settings.audiences.replaced))
    }

    private static func chosen(
        _ selection: Resealing.Selection, of own: [ListedVersion], in settings: VaultSettings,
        naming names: OpaqueNames
    ) throws(VaultError) -> [ListedVersion] {
        try settings.requireNoRestoredListing()
        guard case .only(let ids) = selection else { return own }
        var chosen: Set<PackID> = []
        for id in ids {
            let listed = try names.listedIDs(of: id)
            let found = own.map(\.pack).filter { $0.isMade(ofAnyOf: listed) }
            guard !found.isEmpty else {
                throw VaultError(
                    .missing, "no channel lists a pack or a resource tree with this ID", at: id.description,
                    remedy: "give the ID of a pack or a resource tree that a channel lists"
                ).suggesting(id.description, among: settings.sources.map(\.id.description))
            }
            if let member = found.first(where: { listed.contains($0.id) && $0.offer.family != nil }) {
                throw VaultError(
                    .usage, "it is a part of a resource tree, whose packs share a content key",
                    at: id.description,
                    remedy: "name the tree '\(member.offer.family ?? member.id)'")
            }
            chosen.formUnion(found.map(\.id))
        }
        return own.filter { chosen.contains($0.pack.id) }
    }

    private static func warnings(of replaced: [ReplacedKey]) -> [Finding] {
        guard !replaced.isEmpty else { return [] }
        return [
            .warning(
                "sealed-for-replaced-keys",
                "packs are sealed for the replaced keys, too: \(replaced.map(\.id.description).listed(upTo: 4))",
                at: "keys", remedy: "finish their replacement first, so that their holders open nothing new",
                hint: .finishingReplacement(audience: replaced.first?.audience))
        ]
    }

    mutating func note(_ pack: PackManifest, at index: Int) {
        (report.packs[index].version, report.packs[index].length) = (pack.version, pack.length)
    }
}

extension AuthorSession {
    fileprivate func reseal(
        _ plan: ResealingPlan, into output: ProposedChange.Output, _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> ResealingReport {
        var plan = plan
        let session = retiring([], contentKeys: Set(plan.old.map(\.contentKeyID)))
        let publisher = try await PackPublisher(for: session)
        try FileSystem.createFolders(vault.targets, permissions: 0o755)
        try publisher.files.removeAbandonedScratch(of: plan.old.map(\.id))
        var keys = try FreshContentKeys(of: plan, in: session, by: publisher)
        var sealed: [SHA256Digest: PackManifest] = [:]
        var work = WholeWork(
            plan.old.enumerated().map { ($0.offset, $0.element.openedSize) }, steps: [.sealing])
        for (index, old) in plan.old.enumerated() {
            let name = plan.report.packs[index].name ?? old.id
            func note(_ done: UInt64) {
                let progress = WorkProgress(.sealing, name.description, done, of: old.openedSize)
                observe(work.adding(progress, of: index))
            }
            note(0)
            let pack = try await publisher.reseal(
                old, as: plan.report.packs[index].version, under: keys.choice(for: old),
                compression: keys.source(of: old)?.compression, after: keys.unfinished
            ) { note($0) }
            plan.note(pack, at: index)
            sealed[old.sha256] = pack
        }
        let records = try await publisher.records(
            of: session, replacing: sealed, plan.given.adding(sealed.values))
        var settings = settings
        try settings.renumberPins(among: sourceListing, to: sealed, naming: plan.names)
        let next = try listedVersions(replacing: records)
        plan.report.exposures = try await exposures(of: retiredKeys.ids, after: next, naming: plan.shown)
        let isPinned = settings.packs.contains { $0.pin != nil }
        let metadata = try await session.publish(
            ProposedChange(
                listing: records, names: plan.shown, deliveries: deliveries(),
                settings: isPinned ? settings : nil),
            into: output)
        plan.report.written = metadata.written
        plan.report.warnings += keys.warnings + metadata.warnings
        return plan.report
    }
}

/// A fresh content key for each pack that stands alone, and one for the packs of each resource tree.
private struct FreshContentKeys {
    private let publisher: PackPublisher
    /// What an interrupted run listed.
    let unfinished: [PackManifest]
    private let replaced: Set<ContentKeyID>
    private let declared: Recipients
    /// By whether a version is held, then by pack or tree: a held version shares no key with open ones.
    private var choices: [Bool: [PackID: ContentKeyChoice]] = [:]
    private(set) var warnings: [Finding] = []

    init(
        of plan: ResealingPlan, in session: AuthorSession, by publisher: PackPublisher
    ) throws(VaultError) {
        (self.publisher, unfinished) = (publisher, plan.given.unfinishedVersions())
        replaced = Set(plan.old.map(\.contentKeyID))
        declared = try Recipients(declaredBy: session.settings, listedAs: plan.names)
    }

    /// That of the tree counts: all packs of a tree have one content key.
    func source(of pack: PackManifest) -> DeclaredSource? {
        declared.source(listedAs: pack.offer.family ?? pack.id)
    }

    mutating func choice(for pack: PackManifest) async throws(VaultError) -> ContentKeyChoice {
        let group = pack.offer.family ?? pack.id
        let isHeld = pack.offer.isHeld
        if let known = choices[isHeld]?[group] { return known }
        // Where an earlier run was interrupted, its key makes the same files again.
        let begun = unfinished.first {
            ($0.offer.family ?? $0.id) == group && $0.offer.isHeld == isHeld
                && !replaced.contains($0.contentKeyID)
        }
        let choice = try await ContentKeyChoice(
            following: begun, keys: publisher.keys.openers, sealingFor: recipients(of: pack))
        choices[isHeld, default: [:]][group] = choice
        return choice
    }

    /// The audiences of the source; of a pack that no source makes, the owners of its present keys.
    private mutating func recipients(of pack: PackManifest) async throws(VaultError) -> any KeyProvider {
        if pack.isNamesTable { return publisher.keys.own }
        if let source = source(of: pack) { return try publisher.keys.recipients(source.audiences(of: pack)) }
        let (ring, absent) = try await publisher.keys.keys(succeeding: pack.slots)
        guard !ring.isEmpty else {
            throw VaultError(
                .key, "no source makes version \(pack.version), and no key of an audience opens it",
                at: pack.id.description,
                remedy: "declare its source again, or take it out of the channels that list it")
        }
        if !absent.isEmpty {
            let ids = absent.map(\.description)
            warnings.append(
                .warning(
                    "absent-keys",
                    "no source makes it, and these keys of it are not here: \(ids.listed(upTo: 4))",
                    at: pack.id.description, remedy: "give these keys, if their holders are to read it"))
        }
        return InMemoryKeyProvider(ring)
    }
}

extension PackPublisher {
    /// A published version with the same content under another content key.
    ///
    /// - Parameters:
    ///   - number: of the new version.
    ///   - unfinished: what an interrupted run listed. Its numbers are given again only to the same bytes.
    fileprivate func reseal(
        _ old: PackManifest, as number: UInt64, under choice: ContentKeyChoice, compression: Compression?,
        after unfinished: [PackManifest], progress: (UInt64) -> Void
    ) async throws(VaultError) -> PackManifest {
        let key = try await keys.openers.contentKey(of: old)
        let (opened, hosted) = try await files.published(old, key: key)
        try await hosted?.fetch(Array(0..<Int(old.pieceCount)), of: opened)
        let scratch = try ScratchFolder(beside: vault.site)
        try await opened.extract(into: scratch.folder, .writable)
        if old.isNamesTable {
            let names = try await continued(old)
            try DurableFile.write(
                names.span, to: scratch.path.appending(PackNames.path), permissions: 0o600,
                replacing: true)
        }
        let source = try SourceFolder(scanning: scratch.path)
        var order = SealingRequest(
            id: old.id, versioning: .exactly(number), key: choice.key, slots: choice.slots, offer: old.offer,
            compression: self.compression(of: compression))
        order.first = FirstFiles(of: opened)
        for earlier in unfinished
        where earlier.id == old.id && earlier.contentKeyID == choice.key.id
            && earlier.openedSize == old.openedSize
        {
            order.versioning = .exactly(earlier.version)
            let sealed = try await UnnamedPack(
                sealing: order, source, in: files.folder(of: old.id), progress: progress)
            guard sealed.result.manifest.sha256 == earlier.sha256 else { continue }
            return try files.name(sealed).manifest
        }
        order.versioning = .exactly(number)
        let sealed = try await UnnamedPack(
            sealing: order, source, in: files.folder(of: old.id), progress: progress)
        _ = consume scratch
        return try files.name(sealed).manifest
    }

    /// The next listing of each channel with a replaced version.
    fileprivate func records(
        of session: AuthorSession, replacing sealed: [SHA256Digest: PackManifest], _ given: GivenVersions
    ) async throws(VaultError) -> [Channel: [TargetRecord]] {
        var records: [Channel: [TargetRecord]] = [:]
        var tables = try ContinuedTables(after: given, in: session)
        for channel in session.settings.structure.listingChannels {
            let listing = session.published.ownPacks(in: channel)
            guard listing.packs.flatMap(\.versions).contains(where: { sealed[$0.sha256] != nil }) else {
                continue
            }
            var next = listing.otherTargets
            var readable: [PackManifest] = []
            for listed in listing.packs.namesTableLast {
                var versions = listed.versions.map { old in
                    guard var new = sealed[old.sha256] else { return old }
                    new.offer = old.offer
                    return new
                }
                if listed.pack.isNamesTable, let table = versions.first {
                    versions = [try await rekey(namesTable: table, forReadersOf: readable, &tables)]
                }
                readable += versions
                next.append(try ListedPack(versions)?.target ?? listed.target)
            }
            records[channel] = next
        }
        return records
    }
}

extension VaultSettings {
    /// Throws `.usage` where a listing is restored as a whole: its snapshot names the versions under the replaced keys.
    fileprivate func requireNoRestoredListing() throws(VaultError) {
        guard pin != nil || resources.contains(where: { $0.pin != nil }) else { return }
        throw VaultError(
            .usage,
            "a channel or a resource tree is restored to an earlier listing, which has the content keys of then",
            at: "vault.json", remedy: "list the sources again first: 'restore' with --latest")
    }

    /// Versions of packs that are restored get the numbers of those that take their places.
    fileprivate mutating func renumberPins(
        among listing: OwnPacks, to sealed: [SHA256Digest: PackManifest], naming names: OpaqueNames
    ) throws(VaultError) {
        for pack in packs {
            guard let pinned = pack.pin else { continue }
            let listed = listing.packsByID[try names.listedID(of: pack.id)]
            guard let old = listed?.versions.first(where: { $0.version == pinned }),
                let new = sealed[old.sha256]
            else { continue }
            try pin(pack.id, to: new.version)
        }
    }
}
