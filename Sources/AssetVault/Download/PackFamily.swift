import SealedPack
import SystemPackage

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
        if source.isDistrusted {
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
