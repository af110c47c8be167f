import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Recovery looks at every pack, so it happens only after a process died: whoever is about to change the store leaves a
/// mark, which outlives a process that is killed.
extension PackStaging {
    /// The mark of this process, as long as the value is there.
    func beginWork() throws(VaultError) -> ScratchFile {
        let work = layout.work(of: role)
        try FileSystem.createFolders(work, permissions: layout.permissions(of: role).folders)
        let mark = try ScratchFile(for: work.appending("mark"))
        try Folder(opening: work).synchronize()
        return mark
    }

    /// Rolls every pack forward or back to a whole state where somebody died, or is at work. Runs first, under the lock,
    /// and may itself be cut off. A pack that the disk doesn't let settle now keeps nobody from the others: the marks stay,
    /// and whoever works on that pack is told.
    ///
    /// A downloader leaves permanent storage alone; an app also removes what downloaders that died were writing.
    func recover() async throws(VaultError) {
        let control = try await lock()
        defer { withExtendedLifetime(control) {} }
        // Metadata is kept without a mark: its folder is small.
        try MetadataStore(folder: layout.trust(of: role)).removeAbandonedScratch()
        if role == .app { removeScratchOfDownloadersMetadata() }
        let works = (role == .app ? StoreRole.allCases : [role]).map {
            (layout.work(of: $0), layout.area(of: $0))
        }
        var isMarked = false
        for (work, area) in works {
            if let folder = try layout.openFolder(work, in: area), try !folder.names().isEmpty {
                isMarked = true
            }
        }
        if isMarked {
            var places = [(layout.states(of: role), layout.area(of: role)), (layout.packs, layout.shared)]
            if role == .app {
                places += [
                    (layout.permanent, layout.permanent), (layout.states(of: .downloader), layout.shared),
                ]
            }
            var isSettled = true
            for (place, area) in places where !removeAbandonedScratch(below: place, in: area) {
                isSettled = false
            }
            for id in try records.ids() where (try? settle(id)) == nil { isSettled = false }
            guard isSettled else { return }
            for (work, area) in works {
                try layout.openFolder(work, in: area)?.removeAbandonedScratch()
            }
        } else if role == .app {
            for id in try heldIDs() { try? settle(id) }
        }
    }

    /// What can't be removed costs a few kilobytes: a downloader that runs as another user removes it itself.
    private func removeScratchOfDownloadersMetadata() {
        let folders = MetadataStore(folder: layout.trust(of: .downloader)).folders
        for folder in folders {
            _ = try? layout.openFolder(folder, in: layout.shared)?.removeAbandonedScratch()
        }
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
    private func removeAbandonedScratch(below path: FilePath, in area: FilePath) -> Bool {
        do throws(VaultError) {
            guard let folder = try layout.openFolder(path, in: area) else { return true }
            return removeAbandonedScratch(below: folder)
        } catch { return false }
    }

    private func removeAbandonedScratch(below folder: borrowing Folder) -> Bool {
        do throws(VaultError) {
            var isWhole = (try? folder.removeAbandonedScratch()) != nil
            for name in try folder.names() {
                // Such as `lost+found`: nobody's folder but the system's.
                guard (try? PackID(String(decoding: name, as: UTF8.self))) != nil else { continue }
                do throws(VaultError) {
                    guard let inner = try folder.enter(name) else { continue }
                    if !removeAbandonedScratch(below: inner) { isWhole = false }
                } catch { isWhole = false }
            }
            return isWhole
        } catch { return false }
    }

    /// What was being written of one pack, or being removed.
    func removeAbandonedScratch(of id: PackID) throws(VaultError) {
        let state = layout.state(of: id, in: role).removingLastComponent()
        var folders = [(state, layout.area(of: role)), (layout.waiting(of: id), layout.shared)]
        if role == .app { folders.append((layout.home(of: id), layout.permanent)) }
        for (folder, area) in folders {
            try layout.openFolder(folder, in: area)?.removeAbandonedScratch()
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
        let isDecided = role == .downloader || record.listing != ListingVersion()
        if isDecided, saved?.waiting != nil, record.waiting == nil {
            try removeWaiting(of: id, beside: record)
        }
        if record != saved { try records.save(record, of: id) }
        StagingStep.recordRecovered.reached()
        if role == .app {
            if let loaded = record.loaded { try repairManifest(of: loaded) }
            if let waiting = record.waiting { try returnToWaiting(waiting) }
        }
        // Of a pack that no metadata decided on yet, all that was brought may still be wanted.
        if isDecided { try removeWaiting(of: id, beside: record) }
        guard role == .app else { return }
        guard try FileSystem.exists(layout.home(of: id)) else { return try noteHeld(false, of: id) }
        try removeVersions(of: id, in: try Folder(opening: layout.home(of: id)), except: record.loaded)
    }

    /// A sealed pack that was named and never became live waits once more: it is proven, and nobody downloads it again.
    private func returnToWaiting(_ pack: PackManifest) throws(VaultError) {
        let (version, target) = (layout.version(pack, as: .sealed), layout.waitingPack(pack))
        guard try !FileSystem.exists(target), try FileSystem.exists(version) else { return }
        try layout.makeShared(layout.waiting(of: pack.id))
        try saveManifest(of: pack, beside: target)
        guard let name = VersionName(layout.versionName(of: pack, as: .sealed)) else { return }
        _ = try whileFree(name, in: try Folder(opening: layout.home(of: pack.id))) { () throws(VaultError) in
            try FileMove(from: version, to: target) { _ in }.commit()
        }
    }
}
