import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// Brings a store into a consistent state after a process died. All packs are recovered only if a process left its mark
/// (``UnfinishedWork``). Otherwise an app recovers only the packs whose versions are in access.
struct StoreRecovery: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }
    private var records: PackRecords { store.records }

    /// Rolls every pack forward or back to a consistent state where a process died, or is at work. Runs first, under the lock, and
    /// may itself be killed. If the folders of a pack can't be read, the others are recovered all the same: the marks stay, and the
    /// error is reported when that pack is staged.
    ///
    /// A downloader does not touch permanent storage; an app also removes unfinished files of downloaders that died.
    func recover() async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in
            let work = store.unfinishedWork
            try work.removeScratchOfMetadata()
            guard try work.isMarked() else {
                guard role == .app else { return }
                for id in try HeldVersions(layout: layout).ids() { tryToRecover(id) }
                return
            }
            var isComplete = work.removeScratchOfPacks()
            for id in try records.ids() where !tryToRecover(id) { isComplete = false }
            if isComplete { try work.removeMarks() }
        }
    }

    @discardableResult
    private func tryToRecover(_ id: PackID) -> Bool {
        do throws(VaultError) { try recover(locked: id) } catch { return false }
        return true
    }

    /// Rolls one pack forward or back to a consistent state.
    func recover(_ id: PackID) async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in try recover(locked: id) }
    }

    /// The same, under the lock. Returns the transaction, whose record is saved.
    @discardableResult
    func recover(locked id: PackID) throws(VaultError) -> PackTransaction {
        try store.unfinishedWork.removeScratch(of: id)
        StagingStep.scratchRecovered.reached()
        var change = try PackTransaction(locked: id, in: store)
        let waited = change.record.waiting != nil
        try change.followFiles()
        if change.record.isRemoved {
            try store.removal.finish(&change)
            StagingStep.recordRecovered.reached()
            return change
        }
        let record = change.record
        // Before the record forgets it.
        let isDecided = role == .downloader || record.wasListed
        if isDecided, waited, record.waiting == nil {
            try store.removeUnneededWaiting(of: id, beside: record)
        }
        try change.save()
        StagingStep.recordRecovered.reached()
        if role == .app {
            if let loaded = record.loaded {
                try VersionFolder(of: id, in: layout)?.repairManifest(of: loaded)
            }
            if let waiting = record.waiting { try store.transfer.returnToWaiting(waiting) }
        }
        // While no metadata decided on the pack, all that was brought may still be wanted.
        if isDecided { try store.removeUnneededWaiting(of: id, beside: record) }
        if role == .app { try store.removal.removeVersions(of: id, beside: record) }
        return change
    }
}
