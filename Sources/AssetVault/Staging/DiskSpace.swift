import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Disk space for what is about to be written. Where it is missing, packs that the app declared purgeable are removed.
struct DiskSpace: Sendable {
    /// Bytes that stay free.
    private static let reserve: UInt64 = 16 << 20

    let store: StoreAccess
    /// Packs that are wanted now, and are not removed for others.
    var spared: Set<PackID> = []
    var observer: Observer = { _ in }

    /// Whether this many bytes fit without removing anything.
    func fits(_ size: UInt64, in folder: FilePath) throws(VaultError) -> Bool {
        try FileSystem.availableSpace(at: folder) >= Self.reserve + min(size, .max - Self.reserve)
    }

    /// Throws `.diskFull`, and removes nothing, where removing all that is purgeable would not be enough.
    func make(for size: UInt64, of pack: PackID, in folder: FilePath) async throws(VaultError) {
        let needed = Self.reserve + min(size, .max - Self.reserve)
        if try FileSystem.availableSpace(at: folder) >= needed { return }
        try await store.withLock { () throws(VaultError) in
            let candidates = try purgeablePacks(besides: pack, on: folder)
            let free = try FileSystem.availableSpace(at: folder)
            guard candidates.reduce(free, { $0 + $1.size }) >= needed else {
                throw VaultError(
                    .diskFull,
                    "the disk is full: \(size) bytes are needed, with \(Self.reserve >> 20) MiB to stay free beside them, "
                        + "and \(free) are free",
                    at: folder.string, remedy: "free some space, remove packs, or declare some purgeable")
            }
            for candidate in candidates where try FileSystem.availableSpace(at: folder) < needed {
                // One that can't be removed keeps nobody from the next.
                guard (try? store.removal.remove(locked: candidate.id)) != nil else { continue }
                observer(.finished(candidate.id, .absent))
            }
        }
    }

    /// The same for a file that is copied, since it is on another file system.
    func make(toMove file: OpenFileReference, of pack: PackManifest, to folder: FilePath)
        async throws(VaultError)
    {
        if try FileSystem.sameFileSystem(file.file.path, folder) { return }
        try await make(for: pack.length, of: pack.id, in: folder)
    }

    /// The packs that may be removed and that nobody reads, with the bytes that this would free, the least recently used one
    /// first. Under the lock: a process that begins to read one now gets it, or finds it gone.
    func purgeablePacks(besides pack: PackID, on folder: FilePath) throws(VaultError) -> [(
        id: PackID, size: UInt64
    )] {
        let layout = store.layout
        // Only the app decides which of its packs it can do without.
        guard store.role == .app, try FileSystem.exists(layout.permanent),
            try FileSystem.sameFileSystem(layout.permanent, folder)
        else { return [] }
        var found: [(id: PackID, size: UInt64, lastUse: LastUse)] = []
        for id in try store.records.ids() where id != pack && !spared.contains(id) {
            guard let saved = try? store.records.record(of: id), saved.isPurgeable || saved.isReplacedVariant,
                let record = try? store.journal.reconciled(saved, of: id), let loaded = record.loaded,
                record.arriving == nil, let versions = try? VersionFolder(of: id, in: layout),
                (try? versions.isFree(loaded)) == true
            else { continue }
            let size = loaded.form == .opened ? loaded.pack.installedSize : loaded.pack.length
            found.append((id, size, LastUse(in: versions.folder)))
        }
        return found.sorted { $0.lastUse < $1.lastUse }.map { ($0.id, $0.size) }
    }
}
