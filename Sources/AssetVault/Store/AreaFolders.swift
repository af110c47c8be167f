import SystemPackage
import VaultErrors
import VaultFileSystem

/// The folders of an area that others may write in, reached from the area's own folder one by one: a link that somebody put
/// there is followed nowhere. (The area itself may be a link: it is the operator's.)
extension StoreLayout {
    /// Nil where the folder is missing, or where something else stands in its place or on the way to it.
    func openFolder(_ path: FilePath, in area: FilePath) throws(VaultError) -> Folder? {
        guard try FileSystem.status(of: area, followingLinks: true)?.kind == .folder else { return nil }
        var folder = try Folder(opening: area)
        for name in path.components.dropFirst(area.components.count) {
            guard try folder.status(of: name.string)?.kind == .folder else { return nil }
            folder = try folder.openFolder(name.string)
        }
        return folder
    }

    /// Makes a folder in shared storage. Throws `.unwritable` where something else stands in its place or on the way to it.
    func makeShared(_ path: FilePath) throws(VaultError) {
        let permissions = try AreaPermissions(of: shared).folders
        try FileSystem.createFolders(shared, permissions: permissions)
        var folder = try Folder(opening: shared)
        for name in path.components.dropFirst(shared.components.count) {
            switch try folder.status(of: name.string)?.kind {
            case .folder: folder = try folder.openFolder(name.string)
            case nil:
                let made = try Self.make(name.string, in: folder, permissions)
                try folder.synchronize()
                folder = made
            case .file, .link, .pipe, .socket, .device:
                throw VaultError(
                    .unwritable, "something else stands where a folder of the store belongs",
                    at: folder.path.appending(name).string, remedy: "remove it")
            }
        }
    }

    private static func make(_ name: String, in folder: borrowing Folder, _ permissions: UInt16)
        throws(VaultError) -> Folder
    {
        do throws(VaultError) { return try folder.createFolder(name, permissions: permissions) } catch {
            // Another process was faster.
            guard try folder.status(of: name)?.kind == .folder else { throw error }
            return try folder.openFolder(name)
        }
    }
}
