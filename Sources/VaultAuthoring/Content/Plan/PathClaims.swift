public import SealedPack
import VaultBase
import VaultCrypto

/// The pack that has each path first. Within one source a path is unique on a device. A request shows packs of several sources with
/// a common tag as one tree, in which only the first file of each path is visible.
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

    /// A path of two sources whose files have one size: the first one's is still to be compared.
    private struct Undecided {
        /// The position of its claim.
        let first: Int32
        /// The position of the other claimant.
        let other: Int32
        /// Of the other file.
        let digest: SHA256Digest
    }

    private let hasOthers: Bool
    private var claimants: [Claimant] = []
    private var files = ClaimTable()
    /// The packs that have files in each folder; each claim is of the pack's first one.
    private var folders = ClaimTable()
    /// Paths that are a file in one pack and a folder in another.
    private var clashes: Set<EntryPath> = []
    private(set) var conflicts: [ContentPlan.Conflict] = []
    private var undecided: [Undecided] = []

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
        noteFolders(around: path)
        for folder in folders.claims(at: path) { noteClash(at: path, folders[folder]) }
        let known = files.claims(at: path)
        files.add(ClaimTable.Claim(claimant: claimants.count - 1, size: size), at: path, file: file)
        let shown = known.first { claimant.isShown(with: claimants[files[$0].claimant]) }
        guard let shown else { return }
        if files[shown].size != size {
            note(path, claimants[files[shown].claimant], claimant)
        } else {
            undecided.append(
                Undecided(
                    first: Int32(shown), other: Int32(claimants.count - 1), digest: try digest()))
        }
    }

    private mutating func noteFolders(around path: EntryPath) {
        var above = path.parent
        while let folder = above {
            for file in files.claims(at: folder) { noteClash(at: folder, files[file]) }
            // The folders above it are claimed then, too.
            guard !folders.isClaimed(folder, by: claimants.count - 1) else { return }
            folders.add(ClaimTable.Claim(claimant: claimants.count - 1, size: 0), at: folder, file: folder)
            above = folder.parent
        }
    }

    private mutating func noteClash(at path: EntryPath, _ known: ClaimTable.Claim) {
        guard let claimant = claimants.last, case let one = claimants[known.claimant],
            claimant.isShown(with: one), clashes.insert(path).inserted
        else { return }
        note(path, one, claimant)
    }

    /// The sources that have a file to be compared.
    var undecidedSources: [Int] { Set(undecided.lazy.map(source)).sorted() }

    private func source(of claim: Undecided) -> Int { claimants[files[Int(claim.first)].claimant].source }

    /// Compares the files of one source, each of which is read once.
    ///
    /// - Parameters:
    ///   - entries: all of the source, sorted by path.
    ///   - digest: of a file.
    mutating func decide(
        _ number: Int, among entries: SourceFolder.Entries,
        digest: (SourceFolder.Entry) throws(VaultError) -> SHA256Digest
    ) throws(VaultError) {
        let files = files
        func file(of claim: Undecided) -> ArraySlice<UInt8> { files.file(of: Int(claim.first)) }
        // Sorted in place: there may be one for each file.
        let claimants = claimants
        let count = undecided.partition { claimants[files[Int($0.first)].claimant].source == number }
        undecided[count...].sort { file(of: $0).lexicographicallyPrecedes(file(of: $1)) }
        var rest = undecided[count...]
        for entry in entries {
            guard let next = rest.first else { return }
            guard file(of: next).elementsEqual(entry.path.utf8Bytes) else { continue }
            let digest = try digest(entry)
            while let claim = rest.first, file(of: claim).elementsEqual(entry.path.utf8Bytes) {
                rest.removeFirst()
                guard digest != claim.digest else { continue }
                let first = Int(claim.first)
                note(
                    files.path(of: first), claimants[files[first].claimant],
                    claimants[Int(claim.other)])
            }
        }
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

/// Claims by their paths. There is one for each file of a plan, so it holds little: 40 bytes, 16 to 32 to find it by its path, and the path
/// once for all claims of it.
private struct ClaimTable {
    struct Claim {
        /// The position among the claimants.
        let claimant: Int
        let size: UInt64
    }

    private struct Record {
        let size: UInt64
        let pathStart: Int
        let fileStart: Int
        let pathLength: UInt16
        let fileLength: UInt16
        let claimant: Int32
        /// The last one before it whose path has the same hash; -1 for none.
        let previous: Int32
    }

    /// Of all paths, one after the other.
    private var bytes: [UInt8] = []
    private var records: [Record] = []
    /// By the hashes of paths, the last claim of each.
    private var last: [Int: Int32] = [:]

    subscript(position: Int) -> Claim {
        Claim(claimant: Int(records[position].claimant), size: records[position].size)
    }

    func path(of position: Int) -> EntryPath { EntryPath(checked: Array(path(of: records[position]))) }

    /// Where the file is in its source.
    func file(of position: Int) -> ArraySlice<UInt8> {
        let record = records[position]
        return bytes[record.fileStart..<record.fileStart + Int(record.fileLength)]
    }

    private func path(of record: Record) -> ArraySlice<UInt8> {
        bytes[record.pathStart..<record.pathStart + Int(record.pathLength)]
    }

    /// The last claim of a path, or of one with the same hash, at or before a position.
    private func claim(at path: EntryPath, from start: Int32) -> Int? {
        var position = start
        while position >= 0 {
            let record = records[Int(position)]
            if self.path(of: record).elementsEqual(path.utf8Bytes) { return Int(position) }
            position = record.previous
        }
        return nil
    }

    /// The positions of the claims, in the order in which they were added.
    func claims(at path: EntryPath) -> [Int] {
        var found: [Int] = []
        var next = last[path.hashValue]
        while let start = next, let position = claim(at: path, from: start) {
            found.append(position)
            next = records[position].previous
        }
        return found.reversed()
    }

    /// Whether the last claim of a path is of this claimant.
    func isClaimed(_ path: EntryPath, by claimant: Int) -> Bool {
        guard let start = last[path.hashValue], let position = claim(at: path, from: start) else {
            return false
        }
        return records[position].claimant == claimant
    }

    /// - Parameter file: where the file is in its source.
    mutating func add(_ claim: Claim, at path: EntryPath, file: EntryPath) {
        let previous = last[path.hashValue] ?? -1
        let known = self.claim(at: path, from: previous).map { records[$0].pathStart }
        let pathStart = known ?? append(path)
        records.append(
            Record(
                size: claim.size, pathStart: pathStart, fileStart: file == path ? pathStart : append(file),
                pathLength: UInt16(path.utf8Bytes.count), fileLength: UInt16(file.utf8Bytes.count),
                claimant: Int32(claim.claimant), previous: previous))
        last[path.hashValue] = Int32(records.count - 1)
    }

    private mutating func append(_ path: EntryPath) -> Int {
        bytes += path.utf8Bytes
        return bytes.count - path.utf8Bytes.count
    }
}
