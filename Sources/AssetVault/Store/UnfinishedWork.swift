import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// The marks of processes that work on a store, and the unfinished files of those that died. A process that is about to change the store
/// leaves a mark, which stays when the process is killed.
struct UnfinishedWork {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }

    /// Marks this process as working until the value is released.
    func begin() throws(VaultError) -> ScratchFile {
        let work = layout.work(of: role)
        try FileSystem.createFolders(work, permissions: layout.permissions(of: role).folders)
        let mark = try ScratchFile(for: work.appending("mark"))
        try Folder(opening: work).synchronize()
        return mark
    }

    /// The folders of the marks that this role looks at, and their areas.
    private var marks: [(FilePath, StoreArea)] {
        (role == .app ? StoreRole.allCases : [role]).map { (layout.work(of: $0), layout.storeArea(of: $0)) }
    }

    func isMarked() throws(VaultError) -> Bool {
        for (work, area) in marks {
            if let folder = try area.openFolder(work), try !folder.names(upTo: 1).names.isEmpty {
                return true
            }
        }
        return false
    }

    /// Under the lock, once all packs are recovered.
    func removeMarks() throws(VaultError) {
        for (work, area) in marks { try area.openFolder(work)?.removeAbandonedScratch() }
    }

    /// Metadata are written without a mark: their folder is small. Files of a downloader's that can't be removed cost a few kilobytes: one
    /// that runs as another user removes them itself.
    func removeScratchOfMetadata() throws(VaultError) {
        try store.metadata.removeAbandonedScratch()
        guard role == .app else { return }
        for folder in store.metadata(of: .downloader).folders {
            _ = try? layout.sharedArea.openFolder(folder)?.removeAbandonedScratch()
        }
    }

    /// Removes unfinished files of processes that died: of all packs, also of those without a record. False where something of this
    /// role's could not be looked at; what is beyond the budget of a shared area costs disk space, and nothing else.
    func removeScratchOfPacks() -> Bool {
        var places = [(layout.packs, layout.sharedArea), (layout.states(of: .downloader), layout.sharedArea)]
        if role == .app {
            places += [
                (layout.permanent, layout.permanentArea), (layout.states(of: .app), layout.permanentArea),
            ]
        }
        var isComplete = true
        for (place, area) in places {
            let isOwn = area.path == layout.permanent
            var budget = isOwn ? .unlimited : StoreArea.Budget()
            do throws(VaultError) {
                // Only folders of pack IDs are entered: neither versions, whose names begin with `@`, nor what is being written.
                let isWhole = try area.forEachPackFolder(below: place, within: &budget) { folder, _, _ in
                    if (try? folder.removeAbandonedScratch()) == nil { isComplete = false }
                }
                if isOwn, !isWhole { isComplete = false }
            } catch { isComplete = false }
        }
        return isComplete
    }

    /// The same for one pack.
    func removeScratch(of id: PackID) throws(VaultError) {
        let recordFolder = layout.recordFolder(of: id, in: role)
        var folders = [
            (recordFolder, layout.storeArea(of: role)), (layout.waiting(of: id), layout.sharedArea),
        ]
        if role == .app { folders.append((layout.home(of: id), layout.permanentArea)) }
        for (folder, area) in folders { try area.openFolder(folder)?.removeAbandonedScratch() }
    }
}
