import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// What goes away: it loses its final name first, so that nothing half-removed ever has one.
extension PackStaging {
    /// Removes partial downloads that no process holds.
    func clearEphemeral() throws(VaultError) {
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let folder = try Folder(opening: layout.ephemeral)
        for name in try folder.names() where name.suffix(5).elementsEqual(".part".utf8) {
            guard let part = try? folder.updateFile(name), try part.tryLock(exclusive: true),
                try folder.status(of: name)?.isSameFile(as: part.status()) == true
            else { continue }
            try folder.unlink(name)
        }
    }

    /// Packs that wait for their key, but for one.
    func removeWaiting(of id: PackID, except kept: PackDescriptor?) throws(VaultError) {
        let path = layout.waiting(of: id)
        guard try FileSystem.exists(path) else { return }
        let keptName = kept.map { "@\($0.sha256.hex).avpack" } ?? ""
        try removeOurs(in: try Folder(opening: path), except: [keptName])
    }

    /// Versions in permanent storage, but for the one that is in use.
    func removeVersions(
        of id: PackID, in home: borrowing Folder, except loaded: PackRecord.Loaded?
    ) throws(VaultError) {
        let name = loaded.map { layout.versionName(of: $0.pack, as: $0.form) }
        try removeOurs(in: home, except: name.map { [$0, $0 + ".json"] } ?? [])
    }

    /// Removes what is named with an `@`; other names are those of packs below this one.
    private func removeOurs(in folder: borrowing Folder, except kept: [String]) throws(VaultError) {
        for name in try folder.names()
        where name.first == UInt8(ascii: "@") && !kept.contains(where: { $0.utf8.elementsEqual(name) }) {
            try folder.discardTree(name)
        }
    }
}
