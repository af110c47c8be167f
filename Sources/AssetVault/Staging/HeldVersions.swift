import SealedPack
import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// The packs of which somebody held a version that is to go away: each command looks at these again, and at no others.
extension PackStaging {
    /// Notes whether there is such a version.
    func noteHeld(_ isHeld: Bool, of id: PackID) throws(VaultError) {
        let note = layout.held.appending(SHA256.hash(Array(id.description.utf8).span).hex)
        guard try FileSystem.exists(note) != isHeld else { return }
        if isHeld {
            try FileSystem.createFolders(layout.held, permissions: AreaPermissions.permanent.folders)
            try DurableFile.write(
                Array(id.description.utf8).span, to: note, permissions: AreaPermissions.permanent.files,
                replacing: true)
        } else {
            try FileSystem.unlink(note)
        }
    }

    func heldIDs() throws(VaultError) -> [PackID] {
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
