internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A file that is open: one descriptor, closed when the value goes away.
///
/// Every open sets `O_CLOEXEC` and never waits for the other end of a pipe. Interrupted calls are
/// repeated, short reads and writes go on until all is done. Offsets and sizes are bytes.
public struct OpenFile: ~Copyable, Sendable {
    /// Where it was opened, for messages.
    public let path: FilePath
    /// Valid as long as this value lives; closing it elsewhere is an error.
    public let descriptor: Int32

    /// Takes over an open descriptor; `path` is for messages only.
    public init(takingOwnershipOf descriptor: Int32, named path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a regular file for reading; symbolic links are followed.
    ///
    /// Throws `.missing` when there is none, `.corrupt` for a folder, pipe or device, `.io` when it
    /// can't be read.
    public init(reading path: FilePath) throws(VaultError) {
        self = try Self.open(path, VAULT_READ, .reading)
    }

    /// Makes a new file, for reading and writing, with exactly these permissions whatever the umask.
    ///
    /// Throws `.unwritable` when the name exists (a symbolic link too) or can't be made.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        let opened = unsafe path.withPlatformString { unsafe vault_open(VAULT_HERE, $0, VAULT_CREATE, 0o600) }
        let file = OpenFile(takingOwnershipOf: try check(opened, .creating, "create", path), named: path)
        try file.setPermissions(permissions)
        self = file
    }

    /// Opens a regular file for reading and writing; a symbolic link is refused (`.corrupt`).
    public init(updating path: FilePath) throws(VaultError) {
        self = try Self.open(path, VAULT_UPDATE, .changing)
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

    /// Takes an advisory lock (`flock`) on this file if nobody stands in the way.
    ///
    /// It lasts until the value goes away or the process dies. Returns false when somebody else holds
    /// it; throws `.io` where the file system has no locks.
    public func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        let result = vault_try_lock(descriptor, exclusive ? 1 : 0)
        if result == -EWOULDBLOCK { return false }
        try check(result, .changing, "lock", path)
        return true
    }

    private static func open(_ path: FilePath, _ flags: Int32, _ purpose: Purpose) throws(VaultError)
        -> OpenFile
    {
        let opened = unsafe path.withPlatformString { unsafe vault_open(VAULT_HERE, $0, flags, 0) }
        let file = OpenFile(takingOwnershipOf: try check(opened, purpose, "open", path), named: path)
        try file.requireRegular()
        return file
    }

    func requireRegular() throws(VaultError) {
        let kind = try status().kind
        guard kind == .file else { throw .wrongKind(kind, wanted: .file, path) }
    }
}
