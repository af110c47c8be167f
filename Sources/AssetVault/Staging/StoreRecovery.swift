import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Brings a store into a consistent state after a process died. Recovery looks at every pack, so it happens only then: a
/// process that is about to change the store leaves a mark, which stays when the process is killed.
struct StoreRecovery: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }

    /// The mark of this process, as long as the value is there.
    func beginWork() throws(VaultError) -> ScratchFile {
        let work = layout.work(of: role)
        try FileSystem.createFolders(work, permissions: layout.permissions(of: role).folders)
        let mark = try ScratchFile(for: work.appending("mark"))
        try Folder(opening: work).synchronize()
        return mark
    }

    /// Rolls every pack forward or back to a consistent state where a process died, or is at work. Runs first, under the lock,
    /// and may itself be killed. A pack whose folders can't be read now keeps nobody from the others: the marks stay, and the
    /// error is reported when that pack is staged.
    ///
    /// A downloader leaves permanent storage alone; an app also removes what downloaders that died were writing.
    func recover() async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in
            // Metadata are written without a mark: their folder is small.
            try MetadataStore(folder: layout.trust(of: role)).removeAbandonedScratch()
            if role == .app { removeScratchOfDownloadersMetadata() }
            guard try isMarked() else {
                guard role == .app else { return }
                for id in try HeldVersions(layout: layout).ids() { _ = try? recover(locked: id) }
                return
            }
            var isComplete = removeScratchOfPacks()
            for id in try store.records.ids() where (try? recover(locked: id)) == nil { isComplete = false }
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
            if let folder = try layout.openFolder(work, in: area), try !folder.names().isEmpty { return true }
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
        let saved = try store.records.soundRecord(of: id)
        let record = try store.journal.reconciled(saved, of: id)
        if record.isRemoved {
            try store.removal.finish(id, record)
            StagingStep.recordRecovered.reached()
            return record
        }
        let waiting = store.waiting(id)
        // Before the record forgets it.
        let isDecided = role == .downloader || record.listing != ListingVersion()
        if isDecided, saved?.waiting != nil, record.waiting == nil {
            try waiting.removeUnneeded(beside: record, in: store)
        }
        if record != saved { try store.records.save(record, of: id) }
        StagingStep.recordRecovered.reached()
        if role == .app {
            if let loaded = record.loaded {
                try VersionFolder(of: id, in: layout)?.repairManifest(of: loaded)
            }
            if let waiting = record.waiting { try store.transfer.returnToWaiting(waiting) }
        }
        // While no metadata decided on the pack, all that was brought may still be wanted.
        if isDecided { try waiting.removeUnneeded(beside: record, in: store) }
        guard role == .app else { return record }
        if let versions = try VersionFolder(of: id, in: layout) {
            try versions.removeVersions(except: record.loaded)
        } else {
            try HeldVersions(layout: layout).set(false, of: id)
        }
        return record
    }
}

extension StoreAccess {
    var recovery: StoreRecovery { StoreRecovery(store: self) }
}
