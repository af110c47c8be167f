public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite

/// The packs that the sources of a vault make now. Sources are looked at, and nothing is sealed or written.
public struct ContentPlan: Sendable {
    public struct Pack: Sendable {
        public let id: PackID
        public let offer: PackOffer
        /// The names of its audiences in `vault.json`; empty for the vault's own keys.
        public let audiences: [String]
        /// Files and empty folders.
        public let entryCount: Int
        /// Bytes of all files together.
        public let openedSize: UInt64
        /// The version that the vault's site lists; nil before the first publication.
        public let published: PackManifest?
        /// The restored version that is listed instead of the source; nil if the source is listed.
        public let pin: Pin?
    }

    /// What holds a pack at an earlier version.
    public enum Pin: Sendable, Hashable {
        case version(UInt64)
        /// A resource tree's, or that of all sources.
        case listing(PublishedSnapshot)
    }

    /// Sorted by ID.
    public private(set) var packs: [Pack] = []
    /// What the settings declare; nil for none.
    public let limits: SizeLimits?
    /// Files of resource trees without any tag: they are in no pack.
    public private(set) var untagged: [PackID: [EntryPath]] = [:]
    /// Of several sources' packs with a common tag, and of packs of teams that the keys open; sorted by path.
    public private(set) var conflicts: [Conflict] = []
    /// Of the newest packs of teams, and of the names that are published.
    private(set) var notices: [Finding] = []
    /// Probable mistakes in the rules and other settings of resource trees.
    private(set) var mistakes: [Finding] = []
    /// Files that are program code for a processor, which the stores of most platforms refuse in content.
    private(set) var executables: [Finding] = []
    /// Whether the site also has packs of teams, of which nothing is counted here.
    public let hasTeams: Bool

    /// Throws `.usage` for settings that can't be published, `.missing` for a source that does not exist.
    ///
    /// - Parameters:
    ///   - keys: open the table of opaque names, for the published versions, and packs of teams.
    ///   - services: see ``AuthorRequest/keyServices``.
    ///   - host: where the published versions are; nil looks into the vault's own site.
    public init(
        of vault: VaultFolder, keys: any KeyProvider, opening services: KeySpec.ServiceOpener? = nil,
        at host: Site? = nil
    ) async throws(VaultError) {
        var settings = try VaultSettings(reading: vault.settings, passphrase: vault.passphrase)
        settings.open(services)
        let authorKeys = try await AuthorKeys(own: keys, audiences: settings.audiences)
        try await authorKeys.requireFewEnough(for: settings)
        let published = try await PublishedVersions(
            of: vault, at: host, in: settings.structure.sourceChannel, keys: keys)
        try self.init(of: settings, in: vault, beside: published)
        // 'publish' reports a delivery that can't be read.
        let deliveries = settings.structure.teams.compactMap {
            try? TeamDelivery(of: $0, to: vault, listed: nil, hosted: nil, now: .now)
        }
        let own = await TagKeys(
            of: packs, with: Set(deliveries.flatMap(\.reachablePacks.packs).flatMap(\.pack.tags)),
            for: authorKeys)
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
        let sources = settings.sources
        func open(_ number: Int) throws(VaultError) -> PackSource {
            try sources[number].open(in: vault, limit: limit)
        }
        limits = settings.limits
        hasTeams = !settings.structure.teams.isEmpty
        if settings.pin == nil,
            let names = NewNames.finding(from: published.areOpaque, to: settings.hasOpaqueNames)
        {
            notices.append(names)
        }
        let whole = settings.pin.map { Pin.listing($0.snapshot) }
        var claims = PathClaims(sources: sources.count)
        for (number, pack) in settings.packs.enumerated() {
            let source = try open(number)
            try add(
                pack.id, pack.offer, for: pack.source.audiences, source.folder,
                Array(source.folder.entries.indices), number, &claims,
                published: published.version(of: pack.id), pin: whole ?? pack.pin.map { .version($0) })
            mistakes += try pack.source.first.findings(
                of: pack.id, among: source.folder.entries.lazy.map(\.path), in: vault)
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
            mistakes += tree.findings(of: found)
            let entries = files.entries
            mistakes += try tree.source.first.findings(
                of: tree.family, among: found.packs.lazy.flatMap(\.entries).map { entries[$0].path },
                in: vault)
        }
        if published.areUnknown {
            mistakes.append(
                .warning(
                    "unknown-names", "no key opens the names of the published packs", at: "keys",
                    remedy: "give the vault key, to see which versions are published"))
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
            size.saturatingAdd(entry.size)
            guard case .file = entry.kind else { continue }
            try claims.add(entry.path, file: entry.source, size: entry.size) { () throws(VaultError) in
                try reader.open(entry).sha256()
            }
            guard entry.size >= ExecutableFormat.minimumSize else { continue }
            if let format = try ExecutableFormat(of: reader.open(entry)) {
                executables.append(
                    .warning(
                        "native-executable",
                        "'\(entry.path)' in '\(id)' is a native executable (\(format.rawValue))",
                        at: id.description,
                        remedy: "ship programs with the app: most platforms forbid them in content"))
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
        for number in claims.undecidedSources {
            let source = try open(number)
            var reader = try SourceReader(of: source.folder)
            try claims.decide(number, among: source.folder.entries) { entry throws(VaultError) in
                try reader.open(entry).sha256()
            }
        }
    }
}

/// The formats of programs and libraries for a processor, by their first bytes. Scripts and web pages are not detected.
enum ExecutableFormat: String, Sendable {
    /// Linux, Android and consoles.
    case elf = "ELF"
    /// Apple's platforms, for one processor or several.
    case machO = "Mach-O"
    /// Windows.
    case portableExecutable = "PE"

    /// Files shorter than this are not examined.
    static let minimumSize: UInt64 = 64

    init?(of file: borrowing OpenFile) throws(VaultError) {
        var start: [UInt8] = []
        guard try file.read(into: &start, upTo: Int(Self.minimumSize), at: 0) == Int(Self.minimumSize) else {
            return nil
        }
        switch Array(start.prefix(4)) {
        case [0x7F, 0x45, 0x4C, 0x46]: self = .elf
        case [0xCF, 0xFA, 0xED, 0xFE], [0xCE, 0xFA, 0xED, 0xFE], [0xFE, 0xED, 0xFA, 0xCF],
            [0xFE, 0xED, 0xFA, 0xCE], [0xCA, 0xFE, 0xBA, 0xBF]:
            self = .machO
        // Java class files share this magic number; bytes 4 to 7 are then a class version (45 or more) instead of an
        // architecture count.
        case [0xCA, 0xFE, 0xBA, 0xBE] where start[4..<7].allSatisfy { $0 == 0 } && start[7] < 45:
            self = .machO
        case _ where start.starts(with: "MZ".utf8):
            let offset = start[0x3C..<0x40].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            var signature: [UInt8] = []
            _ = try file.read(into: &signature, upTo: 4, at: offset)
            guard signature.elementsEqual("PE\0\0".utf8) else { return nil }
            self = .portableExecutable
        default: return nil
        }
    }
}
