import PackSources
public import SealedPack
import StrictJSON
public import VaultContent
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Which pack has each path first. Of one source a device has a path once; of packs of several sources with a common tag, which a request
/// shows as one tree, only one file of each path is seen.
struct PathClaims {
    struct Claim {
        /// The position of the source among all.
        let source: Int
        /// Where the file is in the source.
        let file: EntryPath
        let pack: PackID
        let order: Int64
        let traits: JSONObject
        let tags: Set<String>
        let size: UInt64

        /// Whether an app can see both packs in one tree.
        fileprivate func isShown(with other: Claim) -> Bool {
            source != other.source && !tags.isDisjoint(with: other.tags)
                && !PathClaims.areVariants(traits, other.traits)
        }
    }

    /// A path of two sources whose files have one size: the first one's is still to be compared.
    struct Undecided {
        let path: EntryPath
        let first: Claim
        let other: Claim
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

    private var files = Table()
    /// The same of the folders around these paths.
    private var folders = Table()
    /// The packs that have files in each of these folders.
    private var packs: [EntryPath: Set<PackID>] = [:]
    /// Paths that are a file in one pack and a folder in another.
    private var clashes: Set<EntryPath> = []
    private(set) var conflicts: [ContentPlan.Conflict] = []
    private(set) var undecided: [Undecided] = []

    /// - Parameter digest: of the claimed file, which is read only for this.
    mutating func add(
        _ path: EntryPath, _ claim: Claim, digest: () throws(VaultError) -> SHA256Digest
    ) throws(VaultError) {
        guard !claim.tags.isEmpty else { return }
        noteFolders(around: path, claim)
        for folder in folders[path] { noteClash(at: path, folder, claim) }
        defer { files.add(claim, to: path) }
        guard let known = files[path].first(where: claim.isShown) else { return }
        if known.size != claim.size {
            note(path, known, claim)
        } else {
            undecided.append(Undecided(path: path, first: known, other: claim, digest: try digest()))
        }
    }

    private mutating func noteFolders(around path: EntryPath, _ claim: Claim) {
        var above = path.parent
        while let folder = above {
            for file in files[folder] { noteClash(at: folder, file, claim) }
            guard packs[folder, default: []].insert(claim.pack).inserted else { return }
            folders.add(claim, to: folder)
            above = folder.parent
        }
    }

    private mutating func noteClash(at path: EntryPath, _ known: Claim, _ claim: Claim) {
        guard claim.isShown(with: known), clashes.insert(path).inserted else { return }
        note(path, known, claim)
    }

    mutating func decide(_ claim: Undecided, digest: SHA256Digest) {
        guard digest != claim.digest else { return }
        note(claim.path, claim.first, claim.other)
    }

    /// Of the packs of one site a request shows those of the lowest order first, then those of the first ID.
    private mutating func note(_ path: EntryPath, _ one: Claim, _ other: Claim) {
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
