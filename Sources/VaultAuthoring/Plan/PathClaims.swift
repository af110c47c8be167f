public import SealedPack
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Which pack has each path first. Of one source a device has a path once; of packs of several sources with a common tag, which a request
/// shows as one tree, only one file of each path is seen.
struct PathClaims {
    /// A pack of a source.
    struct Claimant {
        /// The position of the source among all.
        let source: Int
        let pack: PackID
        let order: Int64
        let traits: JSONObject
        let tags: Set<String>

        /// Whether an app can see both packs in one tree.
        fileprivate func isShown(with other: Claimant) -> Bool {
            source != other.source && !tags.isDisjoint(with: other.tags)
                && !PathClaims.areVariants(traits, other.traits)
        }
    }

    /// A file, or a folder around one. There is one for each file, so it holds little.
    private struct Claim {
        /// The position among the claimants.
        let claimant: Int
        /// Where the file is in the source.
        let file: EntryPath
        let size: UInt64
    }

    /// A path of two sources whose files have one size: the first one's is still to be compared.
    struct Undecided {
        let path: EntryPath
        let first: Claimant
        /// Where the first file is in its source.
        let file: EntryPath
        let other: Claimant
        /// Of the other file.
        let digest: SHA256Digest
    }

    /// Most paths have one claim.
    private struct Table {
        private var first: [EntryPath: Claim] = [:]
        private var further: [EntryPath: [Claim]] = [:]

        /// In the order in which they were added.
        subscript(path: EntryPath) -> [Claim] {
            first[path].map { [$0] + (further[path] ?? []) } ?? []
        }

        mutating func add(_ claim: Claim, to path: EntryPath) {
            if first[path] == nil { first[path] = claim } else { further[path, default: []].append(claim) }
        }
    }

    private let hasOthers: Bool
    private var claimants: [Claimant] = []
    private var files = Table()
    /// The same of the folders around these paths.
    private var folders = Table()
    /// The packs that have files in each of these folders.
    private var packs: [EntryPath: Set<PackID>] = [:]
    /// Paths that are a file in one pack and a folder in another.
    private var clashes: Set<EntryPath> = []
    private(set) var conflicts: [ContentPlan.Conflict] = []
    private(set) var undecided: [Undecided] = []

    /// - Parameter sources: their number. One alone has no path twice, so it claims none.
    init(sources: Int) { hasOthers = sources > 1 }

    /// The files that are added next are of this pack.
    mutating func begin(_ claimant: Claimant) { claimants.append(claimant) }

    /// Adds a file of the pack that began last.
    ///
    /// - Parameters:
    ///   - file: where it is in the source.
    ///   - size: in bytes.
    ///   - digest: of the file, which is read only for this.
    mutating func add(
        _ path: EntryPath, file: EntryPath, size: UInt64, digest: () throws(VaultError) -> SHA256Digest
    ) throws(VaultError) {
        guard hasOthers, let claimant = claimants.last, !claimant.tags.isEmpty else { return }
        let claim = Claim(claimant: claimants.count - 1, file: file, size: size)
        noteFolders(around: path, claim)
        for folder in folders[path] { noteClash(at: path, folder, claim) }
        defer { files.add(claim, to: path) }
        let known = files[path].first { claimant.isShown(with: claimants[$0.claimant]) }
        guard let known else { return }
        let first = claimants[known.claimant]
        if known.size != size {
            note(path, first, claimant)
        } else {
            undecided.append(
                Undecided(path: path, first: first, file: known.file, other: claimant, digest: try digest()))
        }
    }

    private mutating func noteFolders(around path: EntryPath, _ claim: Claim) {
        var above = path.parent
        while let folder = above {
            for file in files[folder] { noteClash(at: folder, file, claim) }
            let pack = claimants[claim.claimant].pack
            guard packs[folder, default: []].insert(pack).inserted else { return }
            folders.add(claim, to: folder)
            above = folder.parent
        }
    }

    private mutating func noteClash(at path: EntryPath, _ known: Claim, _ claim: Claim) {
        let (one, other) = (claimants[known.claimant], claimants[claim.claimant])
        guard other.isShown(with: one), clashes.insert(path).inserted else { return }
        note(path, one, other)
    }

    mutating func decide(_ claim: Undecided, digest: SHA256Digest) {
        guard digest != claim.digest else { return }
        note(claim.path, claim.first, claim.other)
    }

    /// Of the packs of one site a request shows those of the lowest order first, then those of the first ID.
    private mutating func note(_ path: EntryPath, _ one: Claimant, _ other: Claimant) {
        let isInOrder = (one.order, one.pack) < (other.order, other.pack)
        let (first, second) = isInOrder ? (one, other) : (other, one)
        conflicts.append(ContentPlan.Conflict(path: path, first: first.pack, other: second.pack))
    }

    /// Whether an app uses only one of two packs: they have other values of a trait.
    static func areVariants(_ one: JSONObject, _ other: JSONObject) -> Bool {
        one.contains { name, value in other[name].map { $0 != value } ?? false }
    }
}

extension ContentPlan {
    /// A path that two packs have with different content, or that is a file in one and a folder in the other.
    public struct Conflict: Sendable {
        public let path: EntryPath
        /// The one whose file counts, where a request shows both.
        public let first: PackID
        public let other: PackID
    }
}
