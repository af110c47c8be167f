import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Room for what is about to be written. Packs that the app declared purgeable go away when there is none otherwise.
extension PackStaging {
    /// Bytes that stay free beside it.
    private static let reservedSpace: UInt64 = 16 << 20

    /// Whether so many bytes fit without anything going away.
    func hasSpace(for count: UInt64, in folder: FilePath) throws(VaultError) -> Bool {
        try FileSystem.availableSpace(at: folder) >= Self.reservedSpace
            + min(count, .max - Self.reservedSpace)
    }

    /// Throws `.diskFull`, and removes nothing, where all that may go away would not make enough room.
    func makeSpace(for count: UInt64, of pack: PackID, in folder: FilePath) async throws(VaultError) {
        let needed = count + Self.reservedSpace
        if try FileSystem.availableSpace(at: folder) >= needed { return }
        let control = try await lock()
        let candidates = try purgeablePacks(besides: pack, on: folder)
        let free = try FileSystem.availableSpace(at: folder)
        guard candidates.reduce(free, { $0 + $1.size }) >= needed else {
            throw VaultError(
                .diskFull,
                "the disk is full: \(count) bytes are needed, with \(Self.reservedSpace >> 20) MiB to stay free beside them, "
                    + "and \(free) are free",
                at: folder.string, remedy: "free some space, remove packs, or declare some purgeable")
        }
        for candidate in candidates where try FileSystem.availableSpace(at: folder) < needed {
            // Where the disk fails another one may do.
            guard (try? takeOut(candidate.id)) != nil else { continue }
            observer(.finished(candidate.id, .absent))
        }
        _ = consume control
    }

    /// The same for a file that is copied because it is on another file system.
    func makeSpace(toMove file: OpenFileReference, of pack: PackManifest, to folder: FilePath)
        async throws(VaultError)
    {
        if try FileSystem.sameFileSystem(file.file.path, folder) { return }
        try await makeSpace(for: pack.length, of: pack.id, in: folder)
    }

    /// The packs that may go away and that nobody reads, with the bytes that this would free; the one that was not read for
    /// longest is the first. Under the lock: a process that begins
    /// to read one now gets it, or finds it gone.
    func purgeablePacks(besides pack: PackID, on folder: FilePath) throws(VaultError)
        -> [(id: PackID, size: UInt64)]
    {
        // What the app can do without is the app's to remove.
        guard role == .app, try FileSystem.exists(layout.permanent),
            try FileSystem.sameFileSystem(layout.permanent, folder)
        else { return [] }
        var found: [(id: PackID, size: UInt64, lastUse: LastUse)] = []
        for id in try records.ids() where id != pack && !spared.contains(id) {
            guard let saved = try? records.record(of: id), saved.isPurgeable else { continue }
            guard let record = try? settled(saved, of: id), let loaded = record.loaded,
                record.arriving == nil,
                let home = try? Folder(opening: layout.home(of: id)),
                (try? isFree(loaded, in: home)) == true
            else { continue }
            let size = loaded.form == .opened ? loaded.pack.installedSize : loaded.pack.length
            found.append((id, size, LastUse(in: home)))
        }
        return found.sorted { $0.lastUse < $1.lastUse }.map { ($0.id, $0.size) }
    }
}
