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
    let budget: ReuseBudget
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
    ///   - basis: what it may rest on.
    ///   - hasOthers: whether other files of the same download are known to be there.
    func pieces(
        of pack: PackManifest, besides file: FilePath, restingOn basis: ArrivalBasis?, hasOthers: Bool
    ) -> ReusablePieces {
        let (key, layout, budget) = (pack.contentKeyID, layout, budget)
        budget.note(pack)
        let owners = owners(of: key)
        let hadSources = families.withLock { families in
            families[key, default: PackFamily(of: owners, under: key, in: layout, within: budget)].look(
                at: pack.id, in: layout)
            return families[key]?.hadSources(besides: file, withTrees: basis != nil) ?? false
        }
        // An open file can be read after its removal.
        var versions = StoredSource.sealed(of: pack.id, in: layout, within: budget).compactMap {
            $0.open(under: key, within: budget)
        }
        if case .sealed(let waiting, _) = waitingVersion(of: pack),
            let pieces = StoredPieces(waiting, distrustedWithin: budget)
        {
            versions.insert(pieces, at: 0)
        }
        return ReusablePieces(
            pack: pack, file: file, hasSources: hadSources || hasOthers, versions: versions, stored: self,
            basis: basis)
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

    /// The version of a pack that is here, if nothing has changed there since it was staged: the live version; where there is none, the
    /// one that waits.
    func version(of pack: PackManifest) throws(VaultError) -> EarlierVersion? {
        let record = try usable(PackRecords(layout: layout, role: .app).record(of: pack.id))
        return record?.loaded == nil ? waitingVersion(of: pack) : try liveVersion(of: pack)
    }

    func liveVersion(of pack: PackManifest) throws(VaultError) -> EarlierVersion? {
        let key = pack.contentKeyID
        let record = try usable(PackRecords(layout: layout, role: .app).record(of: pack.id))
        guard let loaded = record?.loaded else { return nil }
        let version = layout.version(loaded.pack, as: loaded.form)
        guard let fingerprint = record?.fingerprint,
            try usable(VersionFingerprint.digest(of: version, as: loaded.form)) == fingerprint
        else { return nil }
        switch loaded.form {
        case .opened:
            return StoredSource(id: pack.id, file: layout.tailFile(of: loaded.pack), tree: version)
                .openTail(of: loaded.pack, under: key).map { EarlierVersion.tree(tail: $0) }
        case .sealed:
            guard let file = try usable(PackFile(opening: version, as: loaded.pack)), file.contentKeyID == key
            else { return nil }
            return .sealed(file, as: VersionName(of: pack, as: .sealed).text)
        }
    }

    /// A version that waits, if this user wrote it. Nothing of it is read: the app verifies each piece when it opens the newer one.
    private func waitingVersion(of pack: PackManifest) -> EarlierVersion? {
        let records = StoreRole.allCases.compactMap {
            try? PackRecords(layout: layout, role: $0).record(of: pack.id)
        }
        guard let waiting = records.compactMap(\.waiting).first, waiting.sha256 != pack.sha256,
            waiting.contentKeyID == pack.contentKeyID,
            let opened = (try? layout.sharedArea.openFile(layout.waitingPack(waiting))) ?? nil,
            (try? EphemeralName.isOurs(opened.status())) == true,
            let file = try? PackFile(OpenFileReference(opened), as: waiting)
        else { return nil }
        let path = layout.waitingPack(waiting)
        guard let resting = try? file.withBases(beside: path) else { return nil }
        let areOurs = ([PiecePlaces.path(beside: path)] + (resting.bases?.paths ?? [])).allSatisfy { path in
            guard let found = try? FileSystem.status(of: path) else { return true }
            return EphemeralName.isOurs(found)
        }
        // One that was freed in part, as it was opened, has not all its pieces.
        guard areOurs, resting.bases != nil || (try? file.file.hasHoles) != true else { return nil }
        return .sealed(resting, as: layout.waitingName(of: pack))
    }

    /// Files that wait, of some names, and may have pieces of a pack.
    func waitingFiles(_ names: [String], of pack: PackManifest) throws(VaultError) -> [PackFile] {
        var found: [PackFile] = []
        for name in names {
            let file = layout.waiting(of: pack.id).appending(name)
            let source = StoredSource(id: pack.id, file: file, area: layout.sharedArea)
            if let opened = source.openPack(under: pack.contentKeyID, within: budget) {
                found.append(opened)
            } else {
                // A file that can't be used is left out, unless only the limit of open files keeps it from being opened.
                _ = try usable(layout.sharedArea.openFile(file))
            }
        }
        return found
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
