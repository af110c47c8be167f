import PackSources
public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultContent
public import VaultErrors
public import VaultKeys
public import VaultSite

/// The packs that the sources of a vault make now. Sources are looked at, and nothing is sealed or written.
public struct ContentPlan: Sendable {
    public struct Pack: Sendable {
        public let id: PackID
        public let offer: PackOffer
        /// For whom it is sealed, by the names in `vault.json`; empty for the vault's own keys.
        public let audiences: [String]
        /// Files and empty folders.
        public let entryCount: Int
        /// Bytes of all files together.
        public let openedSize: UInt64
        /// The version that the vault's site lists; nil before the first publication.
        public let published: PackManifest?
        /// What is listed instead of the source, by `restore`; nil where the source is.
        public let pin: Pin?
    }

    /// What holds a pack at an earlier version.
    public enum Pin: Sendable, Hashable {
        case version(UInt64)
        /// A resource tree's, or that of all sources.
        case listing(PublishedSnapshot)
    }

    /// A file that is program code for a processor, which the stores of most platforms refuse in content.
    public struct Executable: Sendable {
        public let pack: PackID
        public let path: EntryPath
        public let format: ExecutableFormat
    }

    /// Sorted by ID.
    public private(set) var packs: [Pack] = []
    /// What the settings declare; nil for none.
    public let limits: SizeLimits?
    public private(set) var executables: [Executable] = []
    /// Files of resource trees without any tag: they are in no pack.
    public private(set) var untagged: [PackID: [EntryPath]] = [:]
    /// Where the rules of resource trees stand whose patterns match no file.
    public private(set) var unusedRules: [String] = []
    public private(set) var unusedFallbacks: [Finding] = []
    /// Where the rules of resource trees stand that give traits to files without variants.
    public private(set) var rulesWithoutVariants: [String] = []
    /// Of several sources' packs with a common tag, and of packs of teams that the keys open; sorted by path.
    public private(set) var conflicts: [Conflict] = []
    /// Resource trees all of whose tags have the highest preservation.
    public private(set) var fullyPreserved: [PackID] = []
    /// Of the newest packs of teams, and of the names that are published.
    public private(set) var notices: [Finding] = []
    /// Whether the site also has packs of teams, of which nothing is counted here.
    public let hasTeams: Bool

    /// Whether published versions are unknown because no key opens the table of quiet names.
    public let isPublishedUnknown: Bool

    /// Throws `.usage` for settings that can't be published, `.missing` for a source that does not exist.
    ///
    /// - Parameters:
    ///   - keys: open the table of quiet names, for the published versions, and packs of teams.
    ///   - host: where the published versions are; nil looks into the vault's own site.
    public init(
        of vault: VaultFolder, keys: any KeyProvider, at host: Site? = nil
    ) async throws(VaultError) {
        let settings = try VaultSettings(reading: vault.settings)
        try await AuthorKeys(own: keys, audiences: settings.audiences).requireFewEnough(for: settings)
        let published = try await PublishedVersions(
            of: vault, at: host, in: settings.structure.sourceChannel, keys: keys)
        try self.init(of: settings, in: vault, beside: published)
        // A delivery that can't be read is for 'publish' to report.
        let deliveries = settings.structure.teams.compactMap {
            try? TeamDelivery(of: $0, to: vault, listed: nil, hosted: nil, now: .now)
        }
        let own = await TagKeys(
            of: packs, with: Set(deliveries.flatMap(\.reachablePacks.packs).flatMap(\.pack.tags)),
            for: settings.audiences, vaultKeys: keys)
        notices += deliveries.withheldTags + deliveries.overlaps + deliveries.keyMismatches(beside: own)
        notices += deliveries.unreachableTargets
        let teams = try await TeamPathConflicts(of: deliveries, in: settings, of: vault, keys: keys)
        notices += teams.notices
        conflicts = (conflicts + teams.conflicts).sorted { $0.path < $1.path }
    }

    /// Without what teams deliver.
    ///
    /// - Parameters:
    ///   - settings: also such that are not written yet.
    ///   - limit: how much an archive may unpack to.
    init(
        of settings: VaultSettings, in vault: VaultFolder, limit: UnpackingLimit = .standard,
        beside published: PublishedVersions
    ) throws(VaultError) {
        func open(_ number: Int) throws(VaultError) -> PackSource {
            try settings.sources[number].open(in: vault, limit: limit)
        }
        limits = settings.limits
        hasTeams = !settings.structure.teams.isEmpty
        isPublishedUnknown = published.areUnknown
        if settings.pin == nil,
            let names = NewNames.finding(from: published.areQuiet, to: settings.hasQuietNames)
        {
            notices.append(names)
        }
        let whole = settings.pin.map { Pin.listing($0.snapshot) }
        var claims = PathClaims(sources: settings.sources.count)
        for (number, pack) in settings.packs.enumerated() {
            let source = try open(number)
            try add(
                pack.id, pack.offer, for: pack.source.audiences, source.folder,
                Array(source.folder.entries.indices), number, &claims,
                published: published.version(of: pack.id), pin: whole ?? pack.pin.map { .version($0) })
        }
        for (number, tree) in settings.resources.enumerated() {
            let source = try open(settings.packs.count + number)
            let found = try tree.packs(of: source.folder)
            let files = try found.files(of: source.folder)
            for pack in found.packs {
                try add(
                    pack.id, tree.offer(of: pack.labels), for: tree.source.audiences, files, pack.entries,
                    settings.packs.count + number, &claims,
                    published: published.version(of: pack.id),
                    pin: whole ?? tree.pin.map { .listing($0.snapshot) })
            }
            let paths = found.untagged.map { source.folder.entries[$0].path }
            if !paths.isEmpty { untagged[tree.family] = paths }
            unusedFallbacks += tree.unusedFallbacks(among: found)
            rulesWithoutVariants += found.rulesWithoutVariants.map { "\($0) of '\(tree.family)'" }
            unusedRules += tree.places(ofRules: found.unusedRules)
            if tree.preservation.isFull(for: found.tags) { fullyPreserved.append(tree.family) }
        }
        packs.sort { $0.id < $1.id }
        try decide(&claims, open)
        conflicts = claims.conflicts.sorted { $0.path < $1.path }
    }

    private mutating func add(
        _ id: PackID, _ offer: PackOffer, for audiences: [String], _ source: borrowing SourceFolder,
        _ positions: [Int], _ number: Int, _ claims: inout PathClaims, published: PackManifest?,
        pin: Pin?
    ) throws(VaultError) {
        var size: UInt64 = 0
        var reader = try SourceReader(of: source)
        claims.begin(
            PathClaims.Claimant(
                source: number, pack: id, order: offer.order, traits: offer.traits, tags: Set(offer.tags)))
        for position in positions {
            let entry = source.entries[position]
            size += min(entry.size, .max - size)
            guard case .file = entry.kind else { continue }
            try claims.add(entry.path, file: entry.source, size: entry.size) { () throws(VaultError) in
                try reader.open(entry).sha256()
            }
            guard entry.size >= ExecutableFormat.minimumSize else { continue }
            if let format = try ExecutableFormat(of: reader.open(entry)) {
                executables.append(Executable(pack: id, path: entry.path, format: format))
            }
        }
        packs.append(
            Pack(
                id: id, offer: offer, audiences: audiences, entryCount: positions.count, openedSize: size,
                published: published, pin: pin))
    }

    /// Reads the first files of paths that another source has with the same size.
    private func decide(
        _ claims: inout PathClaims, _ open: (Int) throws(VaultError) -> PackSource
    ) throws(VaultError) {
        let undecided = Dictionary(grouping: claims.undecided, by: \.first.source)
        for (number, paths) in undecided.sorted(by: { $0.key < $1.key }) {
            let source = try open(number)
            var reader = try SourceReader(of: source.folder)
            let byPath = Dictionary(grouping: paths, by: \.file)
            for entry in source.folder.entries {
                guard let claimed = byPath[entry.path] else { continue }
                let digest = try reader.open(entry).sha256()
                for claim in claimed { claims.decide(claim, digest: digest) }
            }
        }
    }
}
