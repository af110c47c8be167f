internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A file that is open: one descriptor, closed when the value is destroyed.
///
/// Every open sets `O_CLOEXEC` and never waits for the other end of a pipe. Interrupted calls are
/// repeated, short reads and writes go on until all is done. Offsets and sizes are bytes.
public struct OpenFile: OpenHandle, ~Copyable, Sendable {
    public let path: FilePath
    public let descriptor: Int32

    /// Takes over an open descriptor; `path` is for messages only.
    public init(takingOwnershipOf descriptor: Int32, named path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// A descriptor of its own for what is open already, standard input, say; `path` is for messages
    /// only. Throws `.io` when nothing is open under that number.
    public init(duplicating descriptor: Int32, named path: FilePath) throws(VaultError) {
        let opened = vault_duplicate(descriptor)
        self = OpenFile(
            takingOwnershipOf: try check(opened, .reading, "use descriptor \(descriptor)", path), named: path)
    }

    /// Opens a regular file for reading; symbolic links are followed.
    ///
    /// Throws `.missing` when there is none, `.corrupt` for a folder, pipe or device, `.io` when it
    /// can't be read.
    public init(reading path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_HERE, path.characters, VAULT_READ, .reading, path)
    }

    /// Makes a new file, for reading and writing, with exactly these permissions whatever the umask.
    ///
    /// Throws `.unwritable` when the name exists (a symbolic link too) or can't be made.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        self = try unsafe Self.create(VAULT_HERE, path.characters, permissions, path)
    }

    /// Opens a regular file for reading and writing; a symbolic link is refused (`.corrupt`).
    public init(updating path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_HERE, path.characters, VAULT_UPDATE, .changing, path)
    }

    deinit {
        vault_close(descriptor)
    }

    /// One more descriptor of the same open file, for code that wants one as a number; the caller closes it.
    public func duplicated() throws(VaultError) -> FileDescriptor {
        FileDescriptor(rawValue: try check(vault_duplicate(descriptor), .reading, "use the descriptor", path))
    }

    /// Opens a regular file by its name in the folder `parent`.
    static func open(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32, _ purpose: Purpose, _ path: FilePath
    ) throws(VaultError) -> OpenFile {
        let opened = unsafe vault_open(parent, name, flags, 0)
        // What can't even be opened this way: links (ELOOP), folders for writing, sockets.
        if opened == -ELOOP || opened == -EISDIR || opened == -ENXIO {
            var status = stat()
            let found = unsafe vault_stat(parent, name, flags & VAULT_NO_FOLLOW == 0 ? 1 : 0, &status)
            if found == 0 { try FileStatus(status).require(.file, path) }
        }
        let file = OpenFile(takingOwnershipOf: try check(opened, purpose, "open", path), named: path)
        try file.status().require(.file, path)
        return file
    }

    /// Makes a new file by its name in the folder `parent`.
    static func create(
        _ parent: Int32, _ name: UnsafePointer<CChar>, _ permissions: UInt16, _ path: FilePath
    ) throws(VaultError) -> OpenFile {
        let opened = unsafe vault_open(parent, name, VAULT_CREATE, 0o600)
        let file = OpenFile(takingOwnershipOf: try check(opened, .creating, "create", path), named: path)
        try file.setFirstPermissions(permissions)
        return file
    }
}
