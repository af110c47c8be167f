public import SealedPack
import SystemPackage
import UpdateFramework
import VaultArchive
public import VaultContent
public import VaultErrors
import VaultFileSystem
import VaultSite

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

    /// Throws `.usage` for settings that can't be published, `.missing` for a source that does not exist.
    public init(of vault: VaultFolder) async throws(VaultError) {
        let settings = try VaultSettings(reading: vault.settings)
        limits = settings.limits
        let published = try await Self.published(by: vault)
        for pack in settings.packs {
            let source = try PackSource(
                vault.path.pushing(pack.source), taking: pack.filter, unpackingBeside: vault.site,
                followLinks: pack.followsLinks)
            try add(
                pack.id, pack.offer, for: pack.audiences, source.folder, Array(source.folder.entries.indices),
                published: published[pack.id])
        }
        for tree in settings.resources {
            let source = try PackSource(
                vault.path.pushing(tree.source), taking: tree.filter, unpackingBeside: vault.site,
                followLinks: tree.followsLinks)
            let found = try tree.packs(of: source.folder)
            for pack in found.packs {
                try add(
                    pack.id, tree.offer(of: pack.labels), for: tree.audiences, source.folder, pack.entries,
                    published: published[pack.id])
            }
            let paths = found.untagged.map { source.folder.entries[$0].path }
            if !paths.isEmpty { untagged[tree.family] = paths }
        }
        packs.sort { $0.id < $1.id }
    }

    private mutating func add(
        _ id: PackID, _ offer: PackOffer, for audiences: [String], _ source: borrowing SourceFolder,
        _ positions: [Int],
        published: PackManifest?
    ) throws(VaultError) {
        var size: UInt64 = 0
        var reader = try SourceReader(of: source)
        for position in positions {
            let entry = source.entries[position]
            size += min(entry.size, .max - size)
            guard case .file = entry.kind, entry.size >= ExecutableFormat.leastSize else { continue }
            if let format = try ExecutableFormat(of: reader.open(entry)) {
                executables.append(Executable(pack: id, path: entry.path, format: format))
            }
        }
        packs.append(
            Pack(
                id: id, offer: offer, audiences: audiences, entryCount: positions.count, openedSize: size,
                published: published))
    }

    /// What the vault's own site lists, however old it is; empty before the first publication, and for a team, which has no
    /// root.
    private static func published(by vault: VaultFolder) async throws(VaultError) -> [PackID: PackManifest] {
        guard try FileSystem.exists(vault.trustedRoot) else { return [:] }
        let root = try DurableFile.read(vault.trustedRoot, limit: MetadataRole.root.sizeLimit)
        do throws(VaultError) {
            let tree = try await TargetTree.verifying(
                MetadataFolder(vault.metadata), pinnedRoot: root, now: .earliest)
            let packs = PublishedPacks(of: tree).packs.map { ($0.pack.id, $0.pack) }
            return Dictionary(packs) { first, _ in first }
        } catch {
            guard error.category == .unavailable else { throw error }
            return [:]
        }
    }
}
