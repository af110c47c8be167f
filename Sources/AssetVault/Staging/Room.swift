import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Room for what is about to be written. Packs that the app declared purgeable go away when there is none otherwise.
extension PackStaging {
    /// Bytes that stay free beside it.
    private static let spareRoom: UInt64 = 16 << 20

    /// Throws `.io` where nothing that may go away makes enough room.
    func makeRoom(for count: UInt64, of pack: PackID, in folder: FilePath) async throws(VaultError) {
        let needed = count + Self.spareRoom
        if try FileSystem.availableSpace(at: folder) >= needed { return }
        if try FileSystem.exists(layout.permanent),
            try FileSystem.sameFileSystem(layout.permanent, folder)
        {
            for id in try records.ids() where id != pack {
                guard try await purge(id) else { continue }
                if try FileSystem.availableSpace(at: folder) >= needed { return }
            }
        }
        let free = try FileSystem.availableSpace(at: folder)
        throw VaultError(
            .io, "the disk is full: \(needed) bytes are needed, \(free) are free", at: folder.string,
            remedy: "free some space")
    }

    /// Takes a pack out that is purgeable and not in use. False when it stays.
    private func purge(_ id: PackID) async throws(VaultError) -> Bool {
        guard let record = try? records.record(of: id), record.isPurgeable else { return false }
        let control = try await lock()
        let isFree = try isPurgeable(id)
        if isFree { try takeOut(id) }
        _ = consume control
        return isFree
    }

    /// Under the lock: whoever begins to read the pack now gets it, or finds it gone.
    private func isPurgeable(_ id: PackID) throws(VaultError) -> Bool {
        let record = try settled(try records.record(of: id), of: id)
        guard record.isPurgeable, let loaded = record.loaded, record.arriving == nil else { return false }
        return try isFree(loaded, in: try Folder(opening: layout.home(of: id)))
    }
}
