import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// Brings a store into a consistent state after a process died.
///
/// A process that is about to change the store leaves a mark, which stays when the process is killed. All packs are recovered only
/// if a mark exists; without one, an app recovers the packs whose versions are in access alone.
struct StoreRecovery: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }
    private var records: PackRecords { store.records }

    /// Marks this process as working until the value is released.
    func beginWork() throws(VaultError) -> ScratchFile {
        let work = layout.work(of: role)
        try FileSystem.createFolders(work, permissions: layout.permissions(of: role).folders)
        let mark = try ScratchFile(for: work.appending("mark"))
        try Folder(opening: work).synchronize()
        return mark
    }

    /// Rolls every pack forward or back to a consistent state where a process died, or is at work. Runs first, under the lock, and
    /// may itself be killed. If the folders of a pack can't be read, the others are recovered all the same: the marks stay, and the
    /// error is reported when that pack is staged.
    ///
    /// A downloader does not touch permanent storage; an app also removes unfinished files of downloaders that died.
    func recover() async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in
            // Metadata are written without a mark: their folder is small.
            try store.metadata.removeAbandonedScratch()
            if role == .app { removeScratchOfDownloadersMetadata() }
            guard try isMarked() else {
                guard role == .app else { return }
                for id in try HeldVersions(layout: layout).ids() { _ = try? recover(locked: id) }
                return
            }
            var isComplete = removeScratchOfPacks()
            for id in try records.ids() where (try? recover(locked: id)) == nil { isComplete = false }
            guard isComplete else { return }
            for (work, area) in marks { try layout.openFolder(work, in: area)?.removeAbandonedScratch() }
        }
    }

    /// The folders of the marks that this role looks at, and their areas.
    private var marks: [(FilePath, FilePath)] {
        (role == .app ? StoreRole.allCases : [role]).map { (layout.work(of: $0), layout.area(of: $0)) }
    }

    private func isMarked() throws(VaultError) -> Bool {
        for (work, area) in marks {
            if let folder = try layout.openFolder(work, in: area), try !folder.names(upTo: 1).names.isEmpty {
                return true
            }
        }
        return false
    }

    /// Rolls one pack forward or back to a consistent state.
    func recover(_ id: PackID) async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in _ = try recover(locked: id) }
    }

    /// The same, under the lock. Returns the record that follows.
    @discardableResult
    func recover(locked id: PackID) throws(VaultError) -> PackRecord {
        try removeAbandonedScratch(of: id)
        StagingStep.scratchRecovered.reached()
        let saved = try records.readableRecord(of: id)
        let record = try store.journal.reconciled(saved, of: id)
        if record.isRemoved {
            try store.removal.finishRemoval(of: id, record)
            StagingStep.recordRecovered.reached()
            return record
        }
        // Before the record forgets it.
        let isDecided = role == .downloader || record.wasListed
        if isDecided, saved?.waiting != nil, record.waiting == nil {
            try store.removeUnneededWaiting(of: id, beside: record)
        }
        if record != saved { try records.save(record, of: id) }
        StagingStep.recordRecovered.reached()
        if role == .app {
            if let loaded = record.loaded {
                try VersionFolder(of: id, in: layout)?.repairManifest(of: loaded)
            }
            if let waiting = record.waiting { try store.transfer.returnToWaiting(waiting) }
        }
        // While no metadata decided on the pack, all that was brought may still be wanted.
        if isDecided { try store.removeUnneededWaiting(of: id, beside: record) }
        if role == .app {
            try store.removal.removeVersions(of: id, except: record.versions, begun: record.begun)
        }
        return record
    }

    /// Files that can't be removed cost a few kilobytes: a downloader that runs as another user removes them itself.
    private func removeScratchOfDownloadersMetadata() {
        for folder in store.metadata(of: .downloader).folders {
            _ = try? layout.openFolder(folder, in: layout.shared)?.removeAbandonedScratch()
        }
    }

    /// Removes unfinished files of processes that died: of all packs, also of those without a record. False where something of this
    /// role's could not be looked at; what is beyond the budget of a shared area costs disk space, and nothing else.
    private func removeScratchOfPacks() -> Bool {
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
    func removeAbandonedScratch(of id: PackID) throws(VaultError) {
        let recordFolder = layout.recordPath(of: id, in: role).removingLastComponent()
        var folders = [(recordFolder, layout.area(of: role)), (layout.waiting(of: id), layout.shared)]
        if role == .app { folders.append((layout.home(of: id), layout.permanent)) }
        for (folder, area) in folders { try layout.openFolder(folder, in: area)?.removeAbandonedScratch() }
    }
}
