internal import CVaultSystem
public import SystemPackage
public import VaultErrors

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

    /// Opens a device, such as `/dev/null`, for reading.
    init(device path: FilePath) throws(VaultError) {
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
