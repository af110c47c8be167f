internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// An open folder: it stays the same folder whatever happens to its path.
///
/// Methods accept names of single components, and never follow a symbolic link.
public struct Folder: OpenHandle, ~Copyable, Sendable {
    public let path: FilePath
    public let descriptor: Int32

    init(takingOwnershipOf descriptor: Int32, named path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens an existing folder; symbolic links are followed. Throws `.missing` when it does not exist, `.corrupt` when
    /// it is no folder.
    public init(opening path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_WORKING_FOLDER, path.characters, VAULT_FOLDER, path)
    }

    /// Creates a folder with exactly these permissions whatever the umask; its parent must exist. Throws `.unwritable`
    /// when the name exists or the folder can't be created.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        self = try unsafe Self.create(VAULT_WORKING_FOLDER, path.characters, permissions, path)
    }

    /// The folder in which `target` is to be created. Throws `.unwritable` when it can't be opened.
    init(holding target: FilePath) throws(VaultError) {
        let opened = unsafe vault_open(VAULT_WORKING_FOLDER, target.parent.characters, VAULT_FOLDER, 0)
        self = Folder(
            takingOwnershipOf: try check(opened, .creating, "create", target), named: target.parent)
    }

    /// The same folder with a new descriptor.
    public func reopened() throws(VaultError) -> Folder {
        try unsafe Self.open(descriptor, ".", VAULT_FOLDER | VAULT_NO_FOLLOW, path)
    }

    deinit {
        vault_close(descriptor)
    }

    /// Waits until the names in this folder are on the disk (`fsync`).
    public func synchronize() throws(VaultError) {
        let result = vault_fsync(descriptor)
        if result == -EINVAL { return }  // Some file systems have nothing to save here.
        try check(result, .changing, "save the folder to the disk", path)
    }

    /// Opens a folder by its name in the folder `parent`.
    static func open(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32, _ path: FilePath
    ) throws(VaultError) -> Folder {
        let opened = unsafe vault_open(parent, name, flags, 0)
        if opened == -ENOTDIR || opened == -ELOOP {
            var status = stat()
            let found = unsafe vault_stat(parent, name, flags & VAULT_NO_FOLLOW == 0 ? 1 : 0, &status)
            if found == 0 { try FileStatus(status).require(.folder, path) }
        }
        return Folder(takingOwnershipOf: try check(opened, .reading, "open the folder", path), named: path)
    }

    /// Creates a folder by its name in the folder `parent`.
    static func create(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ permissions: UInt16, _ path: FilePath
    ) throws(VaultError) -> Folder {
        try check(unsafe vault_mkdir(parent, name, 0o700), .creating, "create the folder", path)
        var opened = unsafe vault_open(parent, name, VAULT_FOLDER | VAULT_NO_FOLLOW, 0)
        // The umask can remove even the owner's permissions.
        if opened == -EACCES, unsafe vault_chmod(parent, name, 0o700) == 0 {
            opened = unsafe vault_open(parent, name, VAULT_FOLDER | VAULT_NO_FOLLOW, 0)
        }
        if opened == -ENOENT {
            throw VaultError(
                .busy, "another process removed the new folder", at: path.string, remedy: "try again")
        }
        if opened < 0 { _ = unsafe vault_rmdir(parent, name) }
        let folder = Folder(
            takingOwnershipOf: try check(opened, .creating, "create the folder", path), named: path)
        try folder.setPermissionsOfNew(permissions)
        return folder
    }
}
