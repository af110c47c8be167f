internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A folder that is open: whatever happens to its path, this stays the same folder.
///
/// Methods that take names take single components, and never follow a symbolic link.
public struct Folder: ~Copyable, Sendable {
    /// Where it was opened, for messages.
    public let path: FilePath
    /// Valid as long as this value lives; closing it elsewhere is an error.
    public let descriptor: Int32

    init(takingOwnershipOf descriptor: Int32, named path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens an existing folder; symbolic links are followed. Throws `.missing` when there is none.
    public init(opening path: FilePath) throws(VaultError) {
        let opened = unsafe path.withPlatformString { unsafe vault_open(VAULT_HERE, $0, VAULT_FOLDER, 0) }
        self = Folder(takingOwnershipOf: try check(opened, .reading, "open the folder", path), named: path)
    }

    /// Makes a new folder with exactly these permissions whatever the umask; the folder that holds it
    /// must exist. Throws `.unwritable` when the name exists or can't be made.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        let opened = unsafe path.withPlatformString { unsafe makeFolder(VAULT_HERE, $0) }
        let folder = Folder(
            takingOwnershipOf: try check(opened, .creating, "create the folder", path), named: path)
        try folder.setPermissions(permissions)
        self = folder
    }

    deinit {
        vault_close(descriptor)
    }

    public func status() throws(VaultError) -> FileStatus {
        var status = stat()
        try check(unsafe vault_fstat(descriptor, &status), .reading, "read the status", path)
        return FileStatus(status)
    }

    /// Sets the twelve permission bits, whatever the umask.
    public func setPermissions(_ permissions: UInt16) throws(VaultError) {
        try check(vault_fchmod(descriptor, mode_t(permissions)), .changing, "set the permissions", path)
    }

    /// Waits until the names in this folder are on the disk (`fsync`).
    public func synchronize() throws(VaultError) {
        let result = vault_fsync(descriptor)
        if result == -EINVAL { return }  // Some file systems have nothing to do here and say it so.
        try check(result, .changing, "save the folder to the disk", path)
    }

    /// Waits until everything written to this file system is on the disk (`syncfs`), for many files at
    /// once. After an error all of them must be thrown away.
    public func synchronizeFileSystem() throws(VaultError) {
        try check(vault_syncfs(descriptor), .changing, "save the file system to the disk", path)
    }

    /// Takes an advisory lock (`flock`) on this folder if nobody stands in the way.
    public func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        let result = vault_try_lock(descriptor, exclusive ? 1 : 0)
        if result == -EWOULDBLOCK { return false }
        try check(result, .changing, "lock", path)
        return true
    }
}

/// Makes and opens a folder that only its owner can use; gives its descriptor or -errno.
func makeFolder(_ parent: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
    let made = unsafe vault_mkdir(parent, name, 0o700)
    guard made == 0 else { return made }
    let flags = VAULT_FOLDER | VAULT_NO_FOLLOW
    let opened = unsafe vault_open(parent, name, flags, 0)
    guard opened == -EACCES else { return opened }
    // A umask that takes the owner's own rights away.
    let changed = unsafe vault_chmod(parent, name, 0o700)
    return changed < 0 ? changed : unsafe vault_open(parent, name, flags, 0)
}
