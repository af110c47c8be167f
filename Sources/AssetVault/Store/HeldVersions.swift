import SealedPack
import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Notes of the packs with a superseded version that a reader holds: each command tries to remove these again, and looks at
/// no other packs for that.
struct HeldVersions {
    let layout: StoreLayout

    /// Notes whether a pack has such a version.
    func set(_ isHeld: Bool, of id: PackID) throws(VaultError) {
        let note = layout.held.appending(SHA256.hash(Array(id.description.utf8).span).hex)
        guard try FileSystem.exists(note) != isHeld else { return }
        if isHeld {
            try FileSystem.createFolders(layout.held, permissions: AreaPermissions.permanent.folders)
            try DurableFile.write(
                Array(id.description.utf8).span, to: note, permissions: AreaPermissions.permanent.files,
                replacing: true)
        } else {
            try FileSystem.removeFile(note)
        }
    }

    func ids() throws(VaultError) -> [PackID] {
        guard try FileSystem.exists(layout.held) else { return [] }
        var found: [PackID] = []
        let folder = try Folder(opening: layout.held)
        try folder.removeAbandonedScratch()
        for name in try folder.names() {
            let note = layout.held.appending(String(decoding: name, as: UTF8.self))
            guard let bytes = try? DurableFile.read(note, limit: 1 << 12),
                let id = try? PackID(String(decoding: bytes, as: UTF8.self))
            else { continue }
            found.append(id)
        }
        return found.sorted()
    }
}
