import SystemPackage
import VaultBase
import VaultFileSystem

/// Who may read what is made in an area. Two users who share `ephemeral/` and `shared/` do so by a group: what is made
/// gets the permissions of the area's own folder, which the operator made (`install -d -m 2770 -g GROUP`).
struct AreaPermissions {
    let folders: UInt16
    let files: UInt16

    /// Whether a group shares the area.
    var areShared: Bool { folders & 0o070 == 0o070 }

    /// Permanent storage may be read by all users, and written by the app alone.
    static let permanent = AreaPermissions(folders: 0o755, files: 0o644)
}

extension AreaPermissions {
    /// An area that does not exist yet is this user's alone. Other users may never write files, only folders.
    init(of area: FilePath) throws(VaultError) {
        let mode = try FileSystem.status(of: area, followingLinks: true)?.permissions ?? 0o700
        let isGroups = mode & 0o070 == 0o070
        self.init(folders: isGroups ? mode & 0o2770 : 0o700, files: isGroups ? 0o640 : 0o600)
    }
}

/// The folders of the areas, made where they are missing.
extension StoreLayout {
    func permissions(of role: StoreRole) throws(VaultError) -> AreaPermissions {
        switch role {
        case .app: .permanent
        case .downloader: try AreaPermissions(of: shared)
        }
    }

    /// Makes the ephemeral area where it is missing.
    func makeEphemeral() throws(VaultError) {
        try FileSystem.createFolders(ephemeral, permissions: AreaPermissions(of: ephemeral).folders)
    }

    /// Makes a folder in shared storage. Throws `.unwritable` where it or a folder above it is something else.
    func makeShared(_ path: FilePath) throws(VaultError) {
        let permissions = try AreaPermissions(of: shared).folders
        try FileSystem.createFolders(shared, permissions: permissions)
        var folder = try Folder(opening: shared)
        for name in sharedArea.names(to: path) {
            switch try folder.status(of: name)?.kind {
            case .folder: folder = try folder.openFolder(name)
            case nil:
                let made = try Self.make(name, in: folder, permissions)
                try folder.synchronize()
                folder = made
            case .file, .link, .pipe, .socket, .device:
                throw VaultError(
                    .unwritable, "it is in the place of a folder of the store",
                    at: folder.path.appending(String(decoding: name, as: UTF8.self)).string,
                    remedy: "remove it")
            }
        }
    }

    private static func make(_ name: [UInt8], in folder: borrowing Folder, _ permissions: UInt16)
        throws(VaultError) -> Folder
    {
        do throws(VaultError) { return try folder.createFolder(name, permissions: permissions) } catch {
            // Another process was faster.
            guard try folder.status(of: name)?.kind == .folder else { throw error }
            return try folder.openFolder(name)
        }
    }
}

extension FileStatus {
    /// Whether permissions explain that it can't be opened, and not the disk: it is another user's, or its owner closed
    /// it.
    var mayBeClosed: Bool { !isOfThisUser || permissions & 0o500 != 0o500 }
}

extension FileSystem {
    /// Removes an entry with all it holds; absent is fine.
    static func discard(_ path: FilePath) throws(VaultError) {
        guard let name = path.lastComponent?.string else { return }
        try Folder(opening: path.removingLastComponent()).discard(name)
    }
}

extension Folder {
    /// Opens a folder in this one. Nil for anything else, and for a folder that is closed to this user.
    func enter(_ name: some FileName) throws(VaultError) -> Folder? {
        guard let found = try status(of: name), found.kind == .folder else { return nil }
        do throws(VaultError) {
            let folder = try openFolder(name)
            // Without the right to search, names can be listed and not opened.
            _ = try folder.status(of: "@")
            return folder
        } catch {
            guard error.category == .missing || error.category == .io && found.mayBeClosed else {
                throw error
            }
            return nil
        }
    }

    /// Removes an entry with all it holds; absent is fine. It loses its name first. Files in another user's folder that this one
    /// may not remove only cost disk space.
    func discard(_ name: some FileName) throws(VaultError) {
        let found = try status(of: name)
        do throws(VaultError) { try discardTree(name) } catch {
            guard let found, !found.isOfThisUser, try status(of: name) == nil else { throw error }
        }
    }

    /// Removes what is named with an `@`; other names are those of packs below this one.
    func discardStoreEntries(except kept: [String]) throws(VaultError) {
        // Others may have filled the folder: its names are not kept.
        try forEachName { (name) throws(VaultError) in
            guard name.first == UInt8(ascii: "@"), !kept.contains(where: { $0.utf8.elementsEqual(name) })
            else { return }
            try discard(name)
        }
    }
}
