import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultSite

/// Paths that packs of teams have with other content than another pack of the same tree of files: packs that requests by tag can
/// show together. The files of packs that no given key opens are not known.
///
/// One pack is open at a time, and what is remembered and read of all is bounded by ``TeamComparisonBudget``.
struct TeamPathConflicts {
    /// A pack of a team that a key here opens.
    private struct Pack {
        let manifest: PackManifest
        let file: FilePath
        let key: ContentKey
        /// The position of its team.
        let team: Int
    }

    /// A file of a team's pack.
    private struct File: Hashable {
        /// The position among ``packs``.
        let pack: Int
        let content: Range<UInt64>
        /// The bytes of the pieces around it, which are opened to read it.
        let cost: UInt64

        var size: UInt64 { content.upperBound - content.lowerBound }
    }

    /// A file of a path that another pack has with the same size.
    private enum First {
        case ofSource(PackID, SHA256Digest)
        case ofTeam(File)
    }

    private struct Undecided {
        let path: EntryPath
        let first: First
        let other: File
    }

    private var packs: [Pack] = []
    private var files: [EntryPath: [File]] = [:]
    private var undecided: [Undecided] = []
    /// Those that are to be read; each is read once.
    private var wanted: Set<File> = []
    private var budget = TeamComparisonBudget()
    /// Sorted by path.
    private(set) var conflicts: [ContentPlan.Conflict] = []
    /// What was not compared.
    var notices: [Finding] { budget.finding.map { [$0] } ?? [] }

    init(
        of deliveries: [TeamDelivery], in settings: VaultSettings, of vault: VaultFolder,
        keys: any KeyProvider
    ) async throws(VaultError) {
        let keys = try await Self.listed(keys, for: deliveries)
        for (team, delivery) in deliveries.enumerated() {
            let ids = Set(delivery.reachablePacks.packs.map(\.pack.id))
            for listed in delivery.reachablePacks.packs where !listed.pack.tags.isEmpty {
                guard budget.take(listed.pack) else { continue }
                for file in delivery.paths(of: listed) {
                    do throws(VaultError) {
                        let pack = try await OpenPack(
                            PackFile(opening: file, as: listed.pack), keys: keys)
                        packs.append(Pack(manifest: listed.pack, file: file, key: pack.key, team: team))
                        add(pack.catalog, besides: ids)
                        break
                    } catch {
                        // No key here may open it, or it may be damaged: the import refuses what is damaged.
                        guard !error.isCancellation else { throw error }
                    }
                }
            }
        }
        if !files.isEmpty { try addSources(of: settings, in: vault) }
        try await decide()
        conflicts.sort { $0.path < $1.path }
    }

    /// The keys that the site seals its own packs with. Teams name the keys of theirs, and may name any number, so no other is asked for.
    private static func listed(_ keys: any KeyProvider, for deliveries: [TeamDelivery])
        async throws(VaultError)
        -> InMemoryKeyProvider
    {
        guard deliveries.contains(where: { $0.reachablePacks.packs.contains { !$0.pack.tags.isEmpty } })
        else {
            return InMemoryKeyProvider(KeyRing())
        }
        do throws(VaultError) { return InMemoryKeyProvider(try await keys.allKeys()) } catch {
            // Without keys the files of their packs are not known.
            guard !error.isCancellation else { throw error }
            return InMemoryKeyProvider(KeyRing())
        }
    }

    /// Adds the files of the last pack.
    ///
    /// - Parameter ids: the packs of its team.
    private mutating func add(_ catalog: Catalog, besides ids: Set<PackID>) {
        let number = packs.count - 1
        let pack = packs[number]
        for index in 0..<catalog.entryCount {
            guard let entry = catalog.entry(index), entry.kind != .emptyFolder else { continue }
            let file = File(pack: number, content: entry.content, cost: catalog.openedSize(of: entry.content))
            let known = files[entry.path] ?? []
            var isCompared = known.count < TeamComparisonBudget.filesPerPath
            for first in known {
                let other = packs[first.pack]
                guard other.team != pack.team, !ids.contains(other.manifest.id) else { continue }
                // Comparing traits takes time, too.
                guard budget.takePair() else {
                    isCompared = false
                    break
                }
                let areVariants = PathClaims.areVariants(
                    other.manifest.offer.traits, pack.manifest.offer.traits)
                if !areVariants { compare(entry.path, first, file) }
            }
            if known.count < TeamComparisonBudget.filesPerPath { files[entry.path, default: []].append(file) }
            if !isCompared { budget.skipFile() }
        }
    }

    private mutating func addSources(of settings: VaultSettings, in vault: VaultFolder) throws(VaultError) {
        for pack in settings.packs where !pack.offer.tags.isEmpty {
            let source = try pack.source.open(in: vault)
            try compare(pack.id, pack.offer, source.folder, Array(source.folder.entries.indices))
        }
        for tree in settings.resources {
            let source = try tree.source.open(in: vault)
            let found = try tree.packs(of: source.folder)
            let files = try found.files(of: source.folder)
            for pack in found.packs {
                try compare(pack.id, tree.offer(of: pack.labels), files, pack.entries)
            }
        }
    }

    /// The site's own pack comes first, so its file counts.
    private mutating func compare(
        _ id: PackID, _ offer: PackOffer, _ source: borrowing SourceFolder, _ positions: [Int]
    ) throws(VaultError) {
        var reader = try SourceReader(of: source)
        for position in positions {
            let entry = source.entries[position]
            guard case .file = entry.kind else { continue }
            var digest: SHA256Digest?
            for other in files[entry.path] ?? [] {
                guard budget.takePair() else {
                    budget.skipFile()
                    break
                }
                let areVariants = PathClaims.areVariants(
                    offer.traits, packs[other.pack].manifest.offer.traits)
                guard !areVariants else { continue }
                guard other.size == entry.size else {
                    note(entry.path, id, other)
                    continue
                }
                guard reads(other) else { continue }
                let known = if let digest { digest } else { try reader.open(entry).sha256() }
                digest = known
                undecided.append(
                    Undecided(path: entry.path, first: .ofSource(id, known), other: other))
            }
        }
    }

    private mutating func compare(_ path: EntryPath, _ first: File, _ other: File) {
        guard first.size == other.size else { return note(path, packs[first.pack].manifest.id, other) }
        guard reads(first), reads(other) else { return }
        undecided.append(Undecided(path: path, first: .ofTeam(first), other: other))
    }

    /// Whether a file is to be read, which needs a part of what may be read of all.
    private mutating func reads(_ file: File) -> Bool {
        if wanted.contains(file) { return true }
        guard budget.takeBytes(file.cost) else { return false }
        wanted.insert(file)
        return true
    }

    private mutating func decide() async throws(VaultError) {
        let digests = try await digests()
        for pair in undecided {
            let (id, digest): (PackID, SHA256Digest?) =
                switch pair.first {
                case .ofSource(let id, let digest): (id, digest)
                case .ofTeam(let file): (packs[file.pack].manifest.id, digests[file])
                }
            guard let digest, let other = digests[pair.other], digest != other else { continue }
            note(pair.path, id, pair.other)
        }
    }

    /// Of the wanted files, but for those of damaged packs.
    private func digests() async throws(VaultError) -> [File: SHA256Digest] {
        var digests: [File: SHA256Digest] = [:]
        for (number, files) in Dictionary(grouping: wanted, by: \.pack).sorted(by: { $0.key < $1.key }) {
            let pack = packs[number]
            do throws(VaultError) {
                let open = try OpenPack(PackFile(opening: pack.file, as: pack.manifest), key: pack.key)
                for file in files {
                    var digest = SHA256()
                    try await open.read(file.content) { digest.update($0) }
                    digests[file] = digest.finalize()
                }
            } catch {
                guard !error.isCancellation else { throw error }
            }
        }
        return digests
    }

    private mutating func note(_ path: EntryPath, _ first: PackID, _ other: File) {
        conflicts.append(
            ContentPlan.Conflict(path: path, first: first, other: packs[other.pack].manifest.id))
    }
}

/// Limits of the comparison of teams' packs with other packs, so that a team can't decide the memory or the time of a plan.
struct TeamComparisonBudget {
    /// The most files of one path; more of them are not compared with one another.
    static let filesPerPath = 64
    /// About 200 bytes each are kept in memory.
    private static let fileLimit = 1 << 18
    /// Bytes of sealed catalogs. They may unpack to 16 times as much, and the paths in them are kept in memory. 8 MiB are enough
    /// for about 25 GiB of packs, or 300,000 files.
    private static let catalogLimit: UInt64 = 8 << 20
    /// Pairs of files with one path, of which each is remembered until it is decided.
    private static let pairLimit = 1 << 18
    /// Bytes that are opened to compare files of one size: some seconds of work.
    private static let openedLimit: UInt64 = 1 << 30

    private var files = 0
    private var pairs = 0
    private var catalogBytes: UInt64 = 0
    private var openedBytes: UInt64 = 0
    private var skippedPacks = 0
    private var skippedFiles = 0

    /// Takes the files of a pack; false, and counts the pack as skipped, where there are too many.
    mutating func take(_ pack: PackManifest) -> Bool {
        let entries = Int(pack.entryCount)
        guard entries <= Self.fileLimit - files, pack.catalogLength <= Self.catalogLimit - catalogBytes else {
            skippedPacks += 1
            return false
        }
        files += entries
        catalogBytes += pack.catalogLength
        return true
    }

    /// Takes a pair of files with one path; false where there were too many.
    mutating func takePair() -> Bool {
        guard pairs < Self.pairLimit else { return false }
        pairs += 1
        return true
    }

    /// A file that is not compared with all others of its path.
    mutating func skipFile() { skippedFiles += 1 }

    /// Takes a number of bytes that are opened; false, and counts the file as skipped, where there were too many.
    mutating func takeBytes(_ count: UInt64) -> Bool {
        guard count <= Self.openedLimit - openedBytes else {
            skippedFiles += 1
            return false
        }
        openedBytes += count
        return true
    }

    /// What was not compared; nil where everything was.
    var finding: Finding? {
        guard skippedPacks > 0 || skippedFiles > 0 else { return nil }
        let skipped = [
            skippedPacks == 0 ? nil : skippedPacks.counting("pack"),
            skippedFiles == 0 ? nil : skippedFiles.counting("file"),
        ]
        return .warning(
            "uncompared-packs",
            "\(skipped.compactMap(\.self).joined(separator: " and ")) of teams were not compared with the other packs: all of their packs with granted tags have more than \(Self.fileLimit) files, \(Self.catalogLimit >> 20) MiB of file lists, \(Self.filesPerPath) files of one path, \(Self.pairLimit) pairs of such files, or \(Self.openedLimit >> 30) GiB of files with the path and size of another",
            at: "teams",
            remedy: "grant tags to fewer packs, or let the teams divide their content into fewer files")
    }
}
