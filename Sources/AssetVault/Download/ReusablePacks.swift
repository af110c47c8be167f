import SealedPack
import Synchronization
import SystemPackage
import VaultFileSystem
import VaultKeys

/// Files of a store that may have pieces of a pack. Equal pieces need the same content key, not the same ID or version: all
/// packs of a resource tree have one. Each piece is verified, and none of the files is locked.
final class ReusablePacks: Sendable {
    private let layout: StoreLayout
    private let budget: ReuseBudget
    /// The packs that were ever sealed under a content key, by their records; nil before the first question.
    private let owners = Mutex<[ContentKeyID: Set<PackID>]?>(nil)
    private let families = Mutex<[ContentKeyID: PackFamily]>([:])

    init(_ layout: StoreLayout, within budget: ReuseBudget = ReuseBudget()) {
        (self.layout, self.budget) = (layout, budget)
    }

    /// What a pack's download may take pieces from.
    ///
    /// - Parameters:
    ///   - file: the download itself.
    ///   - keys: opened trees are sources only with them.
    ///   - hasOthers: whether other files of the same download are known to be there.
    func pieces(
        of pack: PackManifest, besides file: FilePath, with keys: (any KeyProvider)?, hasOthers: Bool
    ) -> ReusablePieces {
        let (key, layout, budget) = (pack.contentKeyID, layout, budget)
        budget.note(pack)
        let owners = owners(of: key)
        let hadSources = families.withLock { families in
            families[key, default: PackFamily(of: owners, under: key, in: layout, within: budget)].look(
                at: pack.id, in: layout)
            return families[key]?.hadSources(besides: file, withTrees: keys != nil) ?? false
        }
        // An open file can be read after its removal.
        let versions = StoredSource.sealed(of: pack.id, in: layout, within: budget).compactMap {
            $0.open(under: key, with: nil, within: budget)
        }
        return ReusablePieces(
            pack: pack, file: file, hasSources: hadSources || hasOthers, versions: versions, stored: self,
            keys: keys, budget: budget)
    }

    /// The files that have some of these pieces, the best first: sealed packs, then opened trees; of both the pack's own before
    /// others.
    func sources(with pieces: [PiecePrefix], of pack: PackManifest, besides file: FilePath) -> [StoredSource]
    {
        guard !pieces.isEmpty else { return [] }
        let key = pack.contentKeyID
        let found = families.withLock { families in families[key]?.sources(with: pieces, in: layout) ?? [] }
            // Its sealed versions are open.
            .filter { $0.tree != nil || $0.id != pack.id }
        let arriving = StoredSource.arriving(in: layout, besides: file, under: key, within: budget)
        let trees = found.filter { $0.tree != nil }
        return found.filter { $0.tree == nil } + arriving + trees.filter { $0.id == pack.id }
            + trees.filter { $0.id != pack.id }
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
