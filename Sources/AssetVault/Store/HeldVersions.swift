import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Notes of the packs that have a superseded version which a reader holds: each command tries again to remove these versions,
/// without looking at other packs.
struct HeldVersions {
    let layout: StoreLayout

    /// Notes that a pack has such a version.
    func note(_ id: PackID) throws(VaultError) {
        let note = path(of: id)
        guard try !FileSystem.exists(note) else { return }
        try FileSystem.createFolders(layout.held, permissions: AreaPermissions.permanent.folders)
        try DurableFile.write(
            Array(id.description.utf8).span, to: note, permissions: AreaPermissions.permanent.files,
            replacing: true)
    }

    /// Removes the note of a pack that has no such version any more.
    func forget(_ id: PackID) throws(VaultError) {
        let note = path(of: id)
        if try FileSystem.exists(note) { try FileSystem.removeFile(note) }
    }

    private func path(of id: PackID) -> FilePath {
        layout.held.appending(SHA256.hash(Array(id.description.utf8).span).hex)
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
