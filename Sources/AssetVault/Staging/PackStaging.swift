import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// The steps of a pack through the three areas. Each step is durable before the next one begins, and each leaves
/// the store whole wherever it is cut off: a pack has its final name only when it is complete.
struct PackStaging: Sendable {
    let layout: StoreLayout
    let role: StoreRole
    /// How long to wait for another process to leave the store.
    var patience = Duration.seconds(30)
    /// Packs that are wanted now, and don't go away to make room.
    var spared: Set<PackID> = []
    var observer: Observer = { _ in }

    var records: PackRecords { PackRecords(layout: layout, role: role) }

    /// Exclusive control of the store: held for transitions, not for transfers. Throws `.busy` after `patience`.
    func lock() async throws(VaultError) -> StoreControl {
        try layout.makeShared(layout.shared)
        let permissions = try layout.permissions(of: role)
        try FileSystem.createFolders(layout.area(of: role), permissions: permissions.folders)
        return try await take(layout.locks(of: role))
    }

    /// The same for a look that makes nothing: a lock that is not there was never taken.
    func lockWhatExists() async throws(VaultError) -> StoreControl {
        var paths: [FilePath] = []
        for path in layout.locks(of: role) where try FileSystem.exists(path) { paths.append(path) }
        return try await take(paths)
    }

    private func take(_ locks: [FilePath]) async throws(VaultError) -> StoreControl {
        let shared = try AreaPermissions(of: layout.shared).files
        return try await StoreControl.take(
            locks, permissions: { $0.starts(with: layout.shared) ? shared : 0o600 }, patience: patience)
    }

    /// Saves a change of one pack's record at once. The record is untouched where newer metadata decided on it.
    func update(
        _ id: PackID, listedBy listing: ListingVersion? = nil, _ change: (inout PackRecord) -> Void
    ) async throws(VaultError) {
        let control = try await lock()
        let saved = if let sound = try records.soundRecord(of: id) { sound } else { try settled(nil, of: id) }
        if listing.map({ saved.isOpen(to: $0) }) ?? true {
            var record = saved
            change(&record)
            if record != saved { try records.save(record, of: id) }
        }
        _ = consume control
    }

    /// A download begins: whoever looks sees what is on its way.
    func noteDownload(of pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        try await update(pack.id, listedBy: listing) { $0.arriving = pack }
        StagingStep.downloadRecorded.reached()
    }

    /// A pack that the app removed is asked for again.
    func noteRequest(for id: PackID) async throws(VaultError) {
        guard let record = try? records.record(of: id), record.isRemoved else { return }
        try await update(id) { $0.isRemoved = false }
    }

    /// Nothing is decided yet: what waits still does so by the metadata that listed it.
    func noteOpening(of pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        try await update(pack.id, listedBy: listing) { $0.isOpening = true }
        StagingStep.openingRecorded.reached()
    }

    func noteFailure(_ error: VaultError, of id: PackID) async throws(VaultError) {
        try await update(id) { record in
            guard !record.isRemoved else { return }
            // In use and nothing under way: it is only not certain that this would outlast a power failure.
            guard record.loaded == nil || record.waiting != nil || record.arriving != nil else { return }
            record.failure = PackFailure(error)
            record.isOpening = false
        }
    }

    /// To shared: the verified file becomes a pack that waits to be transferred.
    func share(_ verified: OpenFileReference, of pack: PackManifest, listedBy listing: ListingVersion)
        async throws(VaultError)
    {
        let target = layout.waitingPack(pack)
        try layout.makeShared(target.removingLastComponent())
        try await makeSpace(toMove: verified, of: pack, to: target.removingLastComponent())
        let arrival = try arrival(of: verified, of: pack, at: target)
        let control = try await lock()
        try saveManifest(of: pack, beside: target)
        StagingStep.manifestSaved.reached()
        try arrive(arrival, of: pack, at: target)
        StagingStep.packShared.reached()
        var record = try records.record(of: pack.id)
        let isNewest = record.isOpen(to: listing)
        if isNewest {
            record.waiting = pack
            record.arriving = nil
            record.listing = listing
            record.failure = nil
        }
        try removeWaiting(of: pack.id, beside: record)
        if isNewest { try records.save(record, of: pack.id) }
        StagingStep.shareRecorded.reached()
        _ = consume control
        if record.isRemoved { throw removedMeanwhile(pack.id) }
    }

    /// The pack that waits in shared storage, nil where it does not.
    func waitingPack(_ pack: PackManifest) throws(VaultError) -> OpenFileReference? {
        let path = layout.waitingPack(pack)
        do throws(VaultError) {
            guard let folder = try layout.openFolder(layout.waiting(of: pack.id), in: layout.shared),
                let name = path.lastComponent?.string, let found = try folder.status(of: name),
                found.kind == .file
            else { return nil }
            do throws(VaultError) { return OpenFileReference(try folder.openFile(name)) } catch {
                guard error.category == .io && found.mayBeClosed else { throw error }
                return nil
            }
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }
}
