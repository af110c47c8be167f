import SealedPack
import Synchronization
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Files of a store that may have pieces of a pack. Equal pieces need the same content key, not the same ID or version: all
/// packs of a resource tree have one. Each piece is verified, and none of the files is locked.
final class ReusablePacks: Sendable {
    private let layout: StoreLayout
    private let budget: ReuseBudget
    /// The packs that were ever sealed under a content key, by their records; nil before they are first needed.
    private let owners = Mutex<[ContentKeyID: Set<PackID>]?>(nil)
    private let families = Mutex<[ContentKeyID: PackFamily]>([:])

    init(_ layout: StoreLayout, within budget: ReuseBudget = ReuseBudget()) {
        (self.layout, self.budget) = (layout, budget)
    }

    /// What a pack's download may take pieces from.
    ///
    /// - Parameters:
    ///   - file: the download itself.
    ///   - use: how opened trees may be used.
    ///   - hasOthers: whether other files of the same download are known to be there.
    func pieces(
        of pack: PackManifest, besides file: FilePath, trees use: TreeUse?, hasOthers: Bool
    ) -> ReusablePieces {
        let (key, layout, budget) = (pack.contentKeyID, layout, budget)
        budget.note(pack)
        let owners = owners(of: key)
        let hadSources = families.withLock { families in
            families[key, default: PackFamily(of: owners, under: key, in: layout, within: budget)].look(
                at: pack.id, in: layout)
            return families[key]?.hadSources(besides: file, withTrees: use != nil) ?? false
        }
        // An open file can be read after its removal.
        let versions = StoredSource.sealed(of: pack.id, in: layout, within: budget).compactMap {
            $0.open(under: key, within: budget)
        }
        return ReusablePieces(
            pack: pack, file: file, hasSources: hadSources || hasOthers, versions: versions, stored: self,
            trees: use, budget: budget)
    }

    /// The sealed packs that have some of these pieces, the best first; of the pack itself only downloads, since its versions are open.
    func sealedSources(with pieces: [PiecePrefix], of pack: PackManifest, besides file: FilePath)
        -> [StoredSource]
    {
        guard !pieces.isEmpty else { return [] }
        return sources(with: pieces, of: pack).filter { $0.tree == nil && $0.id != pack.id }
            + StoredSource.arriving(in: layout, besides: file, under: pack.contentKeyID, within: budget)
    }

    /// What a pack takes from opened trees, its own and those that have some of its missing pieces; nil where there are none.
    ///
    /// - Parameters:
    ///   - source: the pack, of which only index and catalog are needed.
    ///   - pieces: those that it does not have.
    ///   - isTrusting: whether files that have the sizes and times of when they were written are taken as unchanged.
    ///   - isArriving: whether the tree that the pack is being opened into counts as one.
    func basis(
        for source: OpenPack, of pack: PackManifest, missing pieces: [PiecePrefix] = [],
        isTrusting: Bool = true,
        isArriving: Bool = false
    ) async throws(VaultError) -> TreeBasis? {
        let others =
            pieces.isEmpty
            ? [] : sources(with: pieces, of: pack).filter { $0.tree != nil && $0.id != pack.id }
        let own = StoredSource.trees(of: pack.id, in: layout)
        var trees = (own + others).prefix(Self.treeLimit).compactMap {
            $0.openTree(in: layout, with: source.key, isTrusting: isTrusting)
        }
        if !pieces.isEmpty {
            trees += StoredSource.arrivingTrees(of: pack.id, besides: pack, in: layout).compactMap {
                $0.openTree(in: layout, with: source.key, isTrusting: false)
            }
        }
        let arriving = layout.arrivingTree(of: pack)
        if isArriving, try FileSystem.exists(arriving) { trees.append(OpenedTree(arriving, of: source)) }
        return trees.isEmpty ? nil : try await TreeBasis(of: source, on: trees)
    }

    /// The tail file of the live tree of a pack, if nothing has changed there since it was staged.
    func liveTail(of pack: PackManifest) -> PackFile? {
        for tree in StoredSource.trees(of: pack.id, in: layout) {
            if let tail = tree.openUnchangedTail(in: layout, under: pack.contentKeyID) { return tail }
        }
        return nil
    }

    /// Trees that one pack rests on: their catalogs are in memory.
    private static let treeLimit = 8

    private func sources(with pieces: [PiecePrefix], of pack: PackManifest) -> [StoredSource] {
        families.withLock { families in families[pack.contentKeyID]?.sources(with: pieces, in: layout) ?? [] }
    }

    /// The download of a pack begins: it is a source for others.
    func note(_ pack: PackManifest) {
        budget.note(pack)
        owners.withLock { _ = $0?[pack.contentKeyID, default: []].insert(pack.id) }
        families.withLock { $0[pack.contentKeyID]?.expect(pack) }
    }

    private func owners(of key: ContentKeyID) -> Set<PackID> {
        owners.withLock { owners in
            let known = owners ?? recordedOwners()
            owners = known
            return known[key] ?? []
        }
    }

    private func recordedOwners() -> [ContentKeyID: Set<PackID>] {
        let records = PackRecords(layout: layout, role: .app)
        var owners: [ContentKeyID: Set<PackID>] = [:]
        var looked = StoreArea.Budget()
        for id in (try? records.allIDs()) ?? [] {
            for role in StoreRole.allCases {
                guard let record = try? records.record(of: id, in: role, within: &looked) else { continue }
                for pack in [record.loaded?.pack, record.waiting, record.arriving] {
                    guard let pack else { continue }
                    owners[pack.contentKeyID, default: []].insert(id)
                    // A downloader's records are in shared storage.
                    if role == .app { budget.note(pack) }
                }
            }
        }
        return owners
    }
}

/// How the download of a pack uses opened trees.
enum TreeUse: Sendable {
    /// The pack is opened as it comes, and takes from trees what is unchanged. If `isTrusting`, files that have the sizes and times of
    /// when they were written are taken as unchanged.
    case opening(with: any KeyProvider, isTrusting: Bool)
    /// The pack waits for its key, and its file need not have the pieces of the live tree.
    case waiting
}

/// What a download may take pieces from, asked once its own index is verified: only what has a missing piece is opened, one
/// after the other.
struct ReusablePieces: Sendable {
    let pack: PackManifest
    /// The download itself.
    let file: FilePath
    /// Whether the index is worth a request of its own.
    let hasSources: Bool
    /// Sealed versions of the pack itself, open.
    let versions: [any PieceSource]
    let stored: ReusablePacks
    let trees: TreeUse?
    let budget: ReuseBudget

    /// The sealed sources of these pieces, the best first.
    func sources(with pieces: [PiecePrefix]) -> Sources {
        Sources(
            key: pack.contentKeyID, budget: budget, open: pieces.isEmpty ? [] : versions[...],
            rest: stored.sealedSources(with: pieces, of: pack, besides: file)[...])
    }

    /// The pack's index and catalog, once they are verified; nil where it is not to be opened, or can't be.
    func openPack(_ partial: PackFile) async throws(VaultError) -> OpenPack? {
        guard case .opening(let keys, _) = trees else { return nil }
        do throws(VaultError) { return try await OpenPack(partial, keys: keys) } catch {
            // It is downloaded as it is: opening it reports the error.
            guard error.category == .key || error.isDamage else { throw error }
            return nil
        }
    }

    /// What the pack takes from opened trees; the assembly no longer asks for those pieces.
    ///
    /// - Parameters:
    ///   - missing: the pieces that the assembly had not when it began.
    ///   - isArriving: whether the tree that the pack is being opened into counts as one.
    func leaveOut(
        of assembly: inout PackAssembly, _ source: OpenPack, missing: [PiecePrefix], isArriving: Bool
    ) async throws(VaultError) -> TreeBasis? {
        guard case .opening(_, let isTrusting) = trees else { return nil }
        let basis = try await stored.basis(
            for: source, of: pack, missing: missing, isTrusting: isTrusting, isArriving: isArriving)
        if let basis { assembly.leaveOut(where: basis.has(piece:)) }
        return basis
    }

    /// The same for a pack that waits for its key: what the live tree has need not be in its file.
    func leaveOutLiveTree(of assembly: inout PackAssembly) throws(VaultError) {
        guard case .waiting = trees, let tail = stored.liveTail(of: pack) else { return }
        try assembly.leaveOut(piecesOf: tail)
    }

    /// Opens one source after the other.
    struct Sources {
        let key: ContentKeyID
        let budget: ReuseBudget
        fileprivate var open: ArraySlice<any PieceSource>
        fileprivate var rest: ArraySlice<StoredSource>

        mutating func next() -> (any PieceSource)? {
            if let source = open.popFirst() { return source }
            while let source = rest.popFirst() {
                if let opened = source.open(under: key, within: budget) { return opened }
            }
            return nil
        }
    }
}

/// How much a run reads of files that another user may have written, to find pieces in them: otherwise forged files could delay the
/// download without limit. Once the budget is spent, pieces are downloaded.
///
/// The index of a pack whose metadata this program verified costs nothing, because its publisher decided its length.
final class ReuseBudget: Sendable {
    private struct Rest {
        var records: Int
        var wrongBytes: Int
        /// By the digests of their files.
        var known: [SHA256Digest: PackManifest] = [:]
    }

    private let rest: Mutex<Rest>

    /// Opening a file counts as this many records.
    private static let smallestIndex = 256

    /// - Parameters:
    ///   - records: of indexes; two readings of the largest one by default.
    ///   - wrongBytes: of pieces with the wrong digest.
    init(records: Int = 2 * Int(FormatLimits.maximumPieces), wrongBytes: Int = 1 << 30) {
        rest = Mutex(Rest(records: records, wrongBytes: wrongBytes))
    }

    /// A pack whose metadata were verified.
    func note(_ pack: PackManifest) { rest.withLock { $0.known[pack.sha256] = pack } }

    func knows(_ digest: SHA256Digest?) -> Bool {
        digest.map { digest in rest.withLock { $0.known[digest] != nil } } ?? false
    }

    /// Takes one reading of a file's index from the budget; false where it does not suffice.
    ///
    /// - Parameters:
    ///   - id: the pack in whose folder the file is; nil for a download.
    ///   - digest: of the whole file, according to its name.
    func takeIndex(of file: PackFile, of id: PackID?, named digest: SHA256Digest?) -> Bool {
        let count = max(Int(file.pieceCount), Self.smallestIndex)
        return rest.withLock { rest in
            guard rest.wrongBytes > 0 else { return false }
            if let pack = digest.flatMap({ rest.known[$0] }), id == nil || id == pack.id, file.matches(pack) {
                return true
            }
            guard rest.records >= count else { return false }
            rest.records -= count
            return true
        }
    }

    /// Whether more pieces may be read, after some bytes had the wrong digest.
    func takeWrong(_ count: Int) -> Bool {
        rest.withLock { rest in
            rest.wrongBytes -= min(count, rest.wrongBytes)
            return rest.wrongBytes > 0
        }
    }
}

/// The packs of a store under one content key, and which of them has which piece. Each index is read once in a run, one after
/// the other; nothing stays open.
struct PackFamily {
    private let key: ContentKeyID
    private let budget: ReuseBudget
    private var sources: [StoredSource] = []
    private var directory = PieceDirectory()
    /// Packs that are downloaded in this run, and are not in the directory yet.
    private var expected: [PackManifest] = []
    /// The packs whose folders were looked at.
    private var known: Set<PackID> = []
    /// What was there before the run.
    private var (hadSealed, hadTrees) = (false, false)
    private let hadArriving: [StoredSource]
    /// Files that another user may have written; one file may have several names.
    private var othersFiles: Set<FileIdentity> = []

    init(
        of owners: Set<PackID>, under key: ContentKeyID, in layout: StoreLayout, within budget: ReuseBudget
    ) {
        self.key = key
        self.budget = budget
        hadArriving = StoredSource.arriving(in: layout, besides: nil, under: key, within: budget)
        for id in owners.sorted() { look(at: id, in: layout) }
    }

    /// Adds the files in the folders of a pack.
    mutating func look(at id: PackID, in layout: StoreLayout) {
        guard known.insert(id).inserted else { return }
        for source in StoredSource.sealed(of: id, in: layout, within: budget) where add(source) {
            hadSealed = true
        }
        for source in StoredSource.trees(of: id, in: layout) where add(source) { hadTrees = true }
    }

    private mutating func add(_ source: StoredSource) -> Bool {
        if source.mayBeAnotherUsers {
            guard let file = source.identity, othersFiles.insert(file).inserted else { return false }
        }
        guard let pack = source.openPack(under: key, within: budget) else { return false }
        directory.add(pack, as: UInt32(clamping: sources.count))
        sources.append(source)
        return true
    }

    /// Whether there were sources when the run began: so a run makes exactly the requests that its cost was computed for.
    func hadSources(besides file: FilePath, withTrees: Bool) -> Bool {
        hadSealed || hadTrees && withTrees || hadArriving.contains { $0.file != file }
    }

    mutating func expect(_ pack: PackManifest) { expected.append(pack) }

    /// The sources that may have some of these pieces, in the order in which they were found.
    mutating func sources(with pieces: [PiecePrefix], in layout: StoreLayout) -> [StoredSource] {
        addExpected(in: layout)
        return directory.packs(with: pieces).sorted().compactMap { number in
            Int(number) < sources.count ? sources[Int(number)] : nil
        }
    }

    private mutating func addExpected(in layout: StoreLayout) {
        let packs = expected
        expected = packs.filter { manifest in
            let candidates = [
                StoredSource(id: manifest.id, file: layout.version(manifest, as: .sealed)),
                StoredSource(id: manifest.id, file: layout.waitingPack(manifest), area: layout.sharedArea),
                StoredSource(
                    id: manifest.id, file: layout.tailFile(of: manifest),
                    tree: layout.version(manifest, as: .opened)),
            ]
            return !candidates.contains { add($0) }
        }
    }
}
