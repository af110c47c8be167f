import CVaultSystem
public import SystemPackage
public import VaultBase

/// An open file: one descriptor, closed when the value is destroyed.
///
/// Files are opened with `O_CLOEXEC` and never block on a pipe. Interrupted calls are repeated; short reads and writes
/// continue until complete. Offsets and sizes are in bytes.
public struct OpenFile: OpenHandle, ~Copyable, Sendable {
    public let path: FilePath
    public let descriptor: Int32

    /// Takes ownership of an open descriptor; `path` is for messages only.
    public init(takingOwnershipOf descriptor: Int32, named path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Duplicates an open descriptor, such as that of standard input; `path` is for messages only. Throws `.io` when
    /// that descriptor is not open.
    public init(duplicating descriptor: Int32, named path: FilePath) throws(VaultError) {
        let opened = vault_duplicate(descriptor)
        self = OpenFile(
            takingOwnershipOf: try check(opened, .reading, "use descriptor \(descriptor)", path), named: path)
    }

    /// Opens a regular file for reading; symbolic links are followed.
    ///
    /// Throws `.missing` when it does not exist, `.corrupt` for a folder, pipe or device, `.io` when it can't be read.
    public init(reading path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_WORKING_FOLDER, path.characters, VAULT_READ, .reading, path)
    }

    /// The same, but a symbolic link is refused (`.corrupt`).
    public init(readingWithoutLink path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(
            VAULT_WORKING_FOLDER, path.characters, VAULT_READ | VAULT_NO_FOLLOW, .reading, path)
    }

    /// Opens a device, such as `/dev/null`, for reading.
    public init(device path: FilePath) throws(VaultError) {
        let opened = unsafe vault_open(VAULT_WORKING_FOLDER, path.characters, VAULT_READ, 0)
        self = OpenFile(takingOwnershipOf: try check(opened, .reading, "open", path), named: path)
    }

    /// Creates a file, for reading and writing, with exactly these permissions whatever the umask.
    ///
    /// Throws `.unwritable` when the name exists (a symbolic link too) or the file can't be created.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        self = try unsafe Self.create(VAULT_WORKING_FOLDER, path.characters, permissions, path)
    }

    /// Opens a regular file for reading and writing; a symbolic link is refused (`.corrupt`).
    public init(updating path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_WORKING_FOLDER, path.characters, VAULT_UPDATE, .changing, path)
    }

    deinit {
        vault_close(descriptor)
    }

    /// A duplicate of the descriptor, which the caller closes.
    public func duplicated() throws(VaultError) -> FileDescriptor {
        FileDescriptor(rawValue: try check(vault_duplicate(descriptor), .reading, "use the descriptor", path))
    }

    /// Opens a regular file by its name in the folder `parent`.
    static func open(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32, _ purpose: Purpose, _ path: FilePath
    ) throws(VaultError) -> OpenFile {
        let opened = unsafe vault_open(parent, name, flags, 0)
        // These can't be opened in this mode: links (ELOOP), folders for writing, sockets.
        if opened == -ELOOP || opened == -EISDIR || opened == -ENXIO {
            var status = stat()
            let found = unsafe vault_stat(parent, name, flags & VAULT_NO_FOLLOW == 0 ? 1 : 0, &status)
            if found == 0 { try FileStatus(status).require(.file, path) }
        }
        let file = OpenFile(takingOwnershipOf: try check(opened, purpose, "open", path), named: path)
        try file.status().require(.file, path)
        return file
    }

    /// Creates a file by its name in the folder `parent`.
    static func create(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ permissions: UInt16, _ path: FilePath
    ) throws(VaultError) -> OpenFile {
        let opened = unsafe vault_open(parent, name, VAULT_CREATE, 0o600)
        let file = OpenFile(takingOwnershipOf: try check(opened, .creating, "create", path), named: path)
        try file.setPermissionsOfNew(permissions)
        return file
    }
}

/// An open file that is shared by several tasks.
public final class OpenFileReference: Sendable {
    public let file: OpenFile

    public init(_ file: consuming OpenFile) { self.file = file }
}

/// The common part of ``OpenFile`` and ``Folder``: a descriptor and the path that it was opened by.
public protocol OpenHandle: ~Copyable {
    /// The path that it was opened by, for messages.
    var path: FilePath { get }
    /// Valid as long as the value lives; closing it elsewhere is an error.
    var descriptor: Int32 { get }
}

extension OpenHandle where Self: ~Copyable {
    public func status() throws(VaultError) -> FileStatus {
        var status = stat()
        try check(unsafe vault_fstat(descriptor, &status), .reading, "read the status", path)
        return FileStatus(status)
    }

    /// Whether a path still leads to this file or folder itself: another process may have removed it, or given the name to another one.
    public func isStill(at path: FilePath) throws(VaultError) -> Bool {
        try FileSystem.status(of: path)?.isSameFile(as: status()) == true
    }

    /// Sets the permissions of a new file or folder. Its creator owns it, so a refusal means that the file system (of a
    /// USB stick, say) has no permissions.
    public func setPermissionsOfNew(_ permissions: UInt16) throws(VaultError) {
        let result = vault_fchmod(descriptor, mode_t(permissions))
        if result == -EPERM || result == -EOPNOTSUPP { return }
        try check(result, .creating, "set the permissions", path)
    }

    /// Waits until everything written to this file system is on the disk (`syncfs`), for many files at once. If it throws,
    /// nothing written since this handle was opened may be relied on.
    public func synchronizeFileSystem() throws(VaultError) {
        try check(vault_syncfs(descriptor), .changing, "save the file system to the disk", path)
    }

    /// Acquires an advisory lock (`flock`) if it is free.
    ///
    /// It lasts until the value is destroyed or the process dies. Returns false when another process has it; throws
    /// `.io` where the file system has no locks.
    public func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        let result = vault_try_lock(descriptor, exclusive ? 1 : 0)
        if result == -EWOULDBLOCK { return false }
        try check(result, .changing, "lock", path)
        return true
    }

    /// Keeps the descriptor and its locks open across `exec`; see ``ProcessReplacement``.
    public func keepOpenAcrossExec() throws(VaultError) {
        try check(vault_keep_on_exec(descriptor), .changing, "keep it open", path)
    }

    /// Releases the lock explicitly, since a child process that is just starting may have a copy of the descriptor for
    /// a moment.
    public func unlock() {
        vault_unlock(descriptor)
    }
}
