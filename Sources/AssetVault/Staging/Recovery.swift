import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Recovery looks at every pack, so it happens only after a process died: whoever is about to change the store leaves a
/// mark, which outlives a process that is killed.
extension PackStaging {
    /// The mark of this process, as long as the value is there.
    func beginWork() throws(VaultError) -> ScratchFile {
        try FileSystem.createFolders(layout.work, permissions: 0o700)
        let mark = try ScratchFile(for: layout.work.appending("mark"))
        try Folder(opening: layout.work).synchronize()
        return mark
    }

    /// Rolls every pack forward or back to a whole state where somebody died, or is at work. Runs first, under the lock,
    /// and may itself be cut off. A pack that the disk doesn't let settle now keeps nobody from the others: the marks stay,
    /// and whoever works on that pack is told.
    func recover() async throws(VaultError) {
        let control = try await lock()
        // Metadata is kept without a mark: its folder is small.
        if try FileSystem.exists(layout.trust) { try Folder(opening: layout.trust).removeAbandonedScratch() }
        if try FileSystem.exists(layout.work), try !Folder(opening: layout.work).names().isEmpty {
            var isSettled = true
            for folder in [layout.states, layout.packs, layout.permanent]
            where !removeAbandonedScratch(below: folder) {
                isSettled = false
            }
            for id in try records.ids() where (try? settle(id)) == nil { isSettled = false }
            if isSettled { try Folder(opening: layout.work).removeAbandonedScratch() }
        } else {
            for id in try heldIDs() { try? settle(id) }
        }
        _ = consume control
    }

    /// Rolls one pack forward or back to a whole state.
    func recover(_ id: PackID) async throws(VaultError) {
        let control = try await lock()
        try settle(id)
        _ = consume control
    }

    /// Removes what processes that died were writing, also for packs that have no record yet. Only folders of pack IDs
    /// are entered: neither packs, whose names begin with `@`, nor what is still being written. False where something could
    /// not be looked at.
    private func removeAbandonedScratch(below path: FilePath) -> Bool {
        do throws(VaultError) {
            guard try FileSystem.exists(path) else { return true }
            return removeAbandonedScratch(below: try Folder(opening: path))
        } catch { return false }
    }

    private func removeAbandonedScratch(below folder: borrowing Folder) -> Bool {
        do throws(VaultError) {
            var isWhole = (try? folder.removeAbandonedScratch()) != nil
            for name in try folder.names() {
                // Such as `lost+found`: nobody's folder but the system's.
                guard (try? PackID(String(decoding: name, as: UTF8.self))) != nil,
                    try folder.status(of: name)?.kind == .folder
                else { continue }
                if let inner = try? folder.openFolder(name), removeAbandonedScratch(below: inner) { continue }
                isWhole = false
            }
            return isWhole
        } catch { return false }
    }

    /// What was being written of one pack, or being removed.
    func removeAbandonedScratch(of id: PackID) throws(VaultError) {
        let state = layout.state(of: id).removingLastComponent()
        for folder in [state, layout.home(of: id), layout.waiting(of: id)] where try FileSystem.exists(folder)
        {
            try Folder(opening: folder).removeAbandonedScratch()
        }
    }

    /// Rolls one pack forward or back, under the lock.
    func settle(_ id: PackID) throws(VaultError) {
        try removeAbandonedScratch(of: id)
        StagingStep.scratchRecovered.reached()
        let saved = try records.soundRecord(of: id)
        let record = try settled(saved, of: id)
        if record.isRemoved {
            try finishRemoval(of: id, record)
            return StagingStep.recordRecovered.reached()
        }
        // Before the record forgets it.
        if saved?.waiting != nil, record.waiting == nil { try removeWaiting(of: id, except: record.arriving) }
        if record != saved { try records.save(record, of: id) }
        StagingStep.recordRecovered.reached()
        if let loaded = record.loaded { try mendDescriptor(of: loaded) }
        if let waiting = record.waiting { try returnToWaiting(waiting) }
        try removeWaiting(of: id, except: record.waiting)
        guard try FileSystem.exists(layout.home(of: id)) else { return try noteHeld(false, of: id) }
        try removeVersions(of: id, in: try Folder(opening: layout.home(of: id)), except: record.loaded)
    }

    /// A sealed pack that was named and never became live waits once more: it is proven, and nobody downloads it again.
    private func returnToWaiting(_ pack: PackDescriptor) throws(VaultError) {
        let (version, target) = (layout.version(pack, as: .sealed), layout.waitingPack(pack))
        guard try !FileSystem.exists(target), try FileSystem.exists(version) else { return }
        try FileSystem.createFolders(layout.waiting(of: pack.id), permissions: 0o700)
        try saveDescriptor(of: pack, beside: target)
        guard let name = VersionName(layout.versionName(of: pack, as: .sealed)) else { return }
        _ = try whileFree(name, in: try Folder(opening: layout.home(of: pack.id))) { () throws(VaultError) in
            try FileMove(from: version, to: target) { _ in }.commit()
        }
    }
}
