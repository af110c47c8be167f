import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Disk space for files that are about to be written. If too little is free, purgeable packs are removed.
struct DiskSpace: Sendable {
    let store: StoreAccess
    /// Bytes that stay free.
    var reserve = PlanningPolicy().lowWaterMark
    /// Packs that are wanted now, and are not removed for others.
    var spared: Set<PackID> = []
    /// Superseded versions, which are removed first.
    var kept = KeptVersions()
    /// Whether it is only asked what a run would do: then nothing is removed.
    var isEstimate = false
    var observer: Observer = { _ in }

    /// Whether this many bytes fit without removing anything.
    func fits(_ size: UInt64, in folder: FilePath) throws(VaultError) -> Bool {
        try FileSystem.availableSpace(at: folder) >= reserve.saturatingAdding(size)
    }

    /// Removes superseded versions that are kept for downloads, then purgeable packs. Throws `.diskFull`, and removes no pack, where
    /// removing all purgeable ones would not be enough.
    func make(for size: UInt64, of pack: PackID, in folder: FilePath) async throws(VaultError) {
        let needed = reserve.saturatingAdding(size)
        if try FileSystem.availableSpace(at: folder) >= needed { return }
        for id in kept.endAll() { try? await store.recovery.recover(id) }
        let available = try FileSystem.availableSpace(at: folder)
        if available >= needed { return }
        if !isEstimate { observer(.diskSpaceLow(pack, missing: needed - available)) }
        let priorities = try await PreservationPriorities(of: store)
        try await store.withLock { () throws(VaultError) in
            let candidates = try purgeablePacks(by: priorities, besides: pack, on: folder)
            let free = try FileSystem.availableSpace(at: folder)
            let possible = candidates.reduce(free) { $0.saturatingAdding($1.size) }
            guard possible >= needed else {
                throw VaultError(
                    .diskFull,
                    "the disk is full: \(size) bytes are needed, with \(reserve >> 20) MiB to stay free beside them, "
                        + "and \(free) are free; \(needed - possible) are missing",
                    at: folder.string, remedy: "free some space, remove packs, or declare some purgeable",
                    missingBytes: needed - possible)
            }
            if !isEstimate { _ = try remove(candidates, until: needed, on: folder) }
        }
    }

    /// Runs what writes small files of the app's, such as metadata, whose size is not known before. Where the disk is full, purgeable
    /// packs are removed until the reserve is free, at least one of them, and it is run again.
    func making<Value>(
        roomFor body: nonisolated(nonsending) () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        while true {
            do throws(VaultError) { return try await body() } catch {
                guard error.category == .diskFull, !Task.isCancelled, try await purgeSome() else {
                    throw error
                }
            }
        }
    }

    /// False where no pack can be purged.
    private func purgeSome() async throws(VaultError) -> Bool {
        let folder = store.layout.permanent
        let priorities = try await PreservationPriorities(of: store)
        return try await store.withLock { () throws(VaultError) in
            let free = try FileSystem.availableSpace(at: folder)
            let candidates = try purgeablePacks(by: priorities, on: folder)
            return try !remove(candidates, until: max(reserve, free.saturatingAdding(1)), on: folder).isEmpty
        }
    }

    /// Disk space for a file that is moved to another file system, which copies it. Within one file system none is needed.
    func make(toMove file: OpenFileReference, of pack: PackManifest, to folder: FilePath)
        async throws(VaultError)
    {
        if try FileSystem.sameFileSystem(file.file.path, folder) { return }
        try await make(for: try file.file.dataLength, of: pack.id, in: folder)
    }

    /// The purgeable packs that no process reads, in the order of removal. To remove them, hold the lock: a process that begins to
    /// read one then either gets it or finds it removed.
    func purgeablePacks(
        by priorities: PreservationPriorities, besides pack: PackID? = nil, on folder: FilePath
    ) throws(VaultError) -> [PurgeablePack] {
        try unusedPacks(by: priorities, besides: pack, on: folder) { _, record in record.purgeReason }
    }

    /// The same of packs that a reason is given to remove.
    func unusedPacks(
        by priorities: PreservationPriorities, besides pack: PackID? = nil, on folder: FilePath,
        reason: (PackID, PackRecord) -> PurgeablePack.Reason?
    ) throws(VaultError) -> [PurgeablePack] {
        let layout = store.layout
        // Only the app decides which of its packs are purgeable.
        guard store.role == .app, try FileSystem.exists(layout.permanent),
            try FileSystem.sameFileSystem(layout.permanent, folder)
        else { return [] }
        let requested = try usable(AccessNotes(layout: layout).requestedByRunning()) ?? []
        var found: [PurgeablePack] = []
        for id in try store.records.ids() where id != pack && !spared.contains(id) {
            guard let saved = try? store.records.record(of: id), let reason = reason(id, saved),
                let record = try? store.journal.reconciled(saved, of: id), let loaded = record.loaded,
                !isBeingUpdated(record), let versions = try? VersionFolder(of: id, in: layout),
                (try? versions.isFree(loaded)) == true
            else { continue }
            found.append(
                PurgeablePack(
                    id: id, size: versions.sizeOnDisk(of: record.versions), reason: reason,
                    preservation: priorities.priority(of: loaded.pack),
                    lastUse: LastUse(in: versions.folder).time,
                    isOfRunningProcess: requested.contains(id)))
        }
        return found.sorted(by: PurgeablePack.goesFirst)
    }

    /// Whether a process downloads another version of the pack now. An interrupted download keeps no pack here.
    private func isBeingUpdated(_ record: PackRecord) -> Bool {
        record.arriving.map { DownloadFile(layout: store.layout, pack: $0).isInUse } ?? false
    }

    /// Removes packs, under the lock, until so many bytes are free. Returns what was removed.
    ///
    /// - Parameter free: nil removes all of them.
    func remove(
        _ candidates: [PurgeablePack], until free: UInt64?, on folder: FilePath
    ) throws(VaultError) -> [PurgeablePack] {
        var removed: [PurgeablePack] = []
        for candidate in candidates {
            if let free, try FileSystem.availableSpace(at: folder) >= free { break }
            // If one can't be removed, the next one is tried.
            guard
                (try? store.removal.remove(
                    locked: candidate.id, candidate.reason == .withdrawn ? .unlisted : .purged)) != nil
            else { continue }
            observer(.finished(candidate.id, .absent))
            removed.append(candidate)
        }
        return removed
    }
}
