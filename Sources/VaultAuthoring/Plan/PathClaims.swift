import PackSources
public import SealedPack
import StrictJSON
public import VaultContent
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Which source has each path first. Of one source a device has a path once; of several sources an app that reads all packs as one
/// tree sees only one file of each path.
struct PathClaims {
    struct Claim {
        /// The position of the source among all.
        let source: Int
        /// Where the file is in the source.
        let file: EntryPath
        let pack: PackID
        let order: Int64
        let traits: JSONObject
        let size: UInt64
    }

    /// A path of two sources whose files have one size: the first one's is still to be compared.
    struct Undecided {
        let path: EntryPath
        let first: Claim
        let other: Claim
        /// Of the other file.
        let digest: SHA256Digest
    }

    private var first: [EntryPath: Claim] = [:]
    /// The same of the folders around these paths.
    private var folders: [EntryPath: Claim] = [:]
    /// Paths that are a file in one pack and a folder in another.
    private var clashes: Set<EntryPath> = []
    private(set) var conflicts: [ContentPlan.Conflict] = []
    private(set) var undecided: [Undecided] = []

    /// - Parameter digest: of the claimed file, which is read only for this.
    mutating func add(
        _ path: EntryPath, _ claim: Claim, digest: () throws(VaultError) -> SHA256Digest
    ) throws(VaultError) {
        noteFolders(around: path, claim)
        if let folder = folders[path] { noteClash(at: path, folder, claim) }
        guard let known = first[path] else {
            first[path] = claim
            return
        }
        guard known.source != claim.source, !Self.areVariants(known.traits, claim.traits) else { return }
        if known.size != claim.size {
            note(path, known, claim)
        } else {
            undecided.append(Undecided(path: path, first: known, other: claim, digest: try digest()))
        }
    }

    private mutating func noteFolders(around path: EntryPath, _ claim: Claim) {
        var above = path.parent
        while let folder = above {
            if let file = first[folder] { noteClash(at: folder, file, claim) }
            if folders[folder] != nil { return }
            folders[folder] = claim
            above = folder.parent
        }
    }

    private mutating func noteClash(at path: EntryPath, _ known: Claim, _ claim: Claim) {
        guard known.source != claim.source, !Self.areVariants(known.traits, claim.traits),
            clashes.insert(path).inserted
        else { return }
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
