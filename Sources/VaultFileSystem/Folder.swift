import CVaultSystem
public import SystemPackage
public import VaultBase

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
    /// it is not a folder.
    public init(opening path: FilePath) throws(VaultError) {
        self = try unsafe Self.open(VAULT_WORKING_FOLDER, path.characters, VAULT_FOLDER, path)
    }

    /// Creates a folder with exactly these permissions whatever the umask; its parent must exist. Throws `.unwritable`
    /// when the name exists or the folder can't be created.
    public init(creating path: FilePath, permissions: UInt16) throws(VaultError) {
        self = try unsafe Self.create(VAULT_WORKING_FOLDER, path.characters, permissions, path)
    }

    /// The folder in which `target` is to be created. Throws `.unwritable` when it can't be opened.
    package init(holding target: FilePath) throws(VaultError) {
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

extension Folder {
    /// Passes the raw bytes of every name but `.` and `..`, in no order.
    public func forEachName(_ body: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        try visitNames(whileTrue: { (name) throws(VaultError) in
            try body(name)
            return true
        })
    }

    /// The same, until `body` returns false.
    func visitNames(whileTrue body: ([UInt8]) throws(VaultError) -> Bool) throws(VaultError) {
        // A directory stream owns its descriptor and moves its position, so it needs its own.
        let opened = unsafe vault_open(descriptor, FilePath(".").characters, VAULT_FOLDER, 0)
        try check(opened, .reading, "list", path)
        guard let stream = unsafe vault_names(opened) else {
            vault_close(opened)
            throw .system(ENOMEM, .reading, "list", path)
        }
        defer { unsafe closedir(stream) }
        let dot = UInt8(ascii: ".")
        var failure: Int32 = 0
        while let start = unsafe vault_next_name(stream, &failure) {
            let name = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
            if name != [dot], name != [dot, dot], try !body(name) { return }
        }
        try check(-failure, .reading, "list", path)
    }

    /// The raw bytes of at most `limit` names, sorted by bytes, and whether the folder has no others: for a folder that others may
    /// fill. Which names of a larger folder are among them is not defined.
    public func names(
        upTo limit: Int, where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(VaultError) -> (names: [[UInt8]], isWhole: Bool) {
        var names: [[UInt8]] = []
        var isWhole = true
        try visitNames(whileTrue: { name in
            guard isWanted(name) else { return true }
            isWhole = names.count < limit
            if isWhole { names.append(name) }
            return isWhole
        })
        return (names.sorted { $0.lexicographicallyPrecedes($1) }, isWhole)
    }

    /// The raw bytes of every name but `.` and `..`, sorted by bytes.
    public func names() throws(VaultError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try forEachName { (name) throws(VaultError) in names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Folder {
    /// The status of an entry, links not followed; nil when it does not exist.
    public func status(of name: some FileName) throws(VaultError) -> FileStatus? {
        let name = try CheckedName(name, in: self)
        var status = stat()
        let result = unsafe vault_stat(descriptor, name.characters, 0, &status)
        if result == -ENOENT { return nil }
        try check(result, .reading, "read the status", name.path(in: path))
        return FileStatus(status)
    }

    /// Bytes that files take on the disk, each once. Nothing is opened; what is no file, or can't be seen, takes none.
    public func allocatedSize(of names: Set<String>) -> UInt64 {
        names.saturatingSum { name in
            guard let found = (try? status(of: name)) ?? nil, found.kind == .file else { return 0 }
            return found.allocatedSize
        }
    }

    /// Opens a regular file for reading. Throws `.corrupt` for a link and any other kind, and never blocks on a pipe.
    public func openFile(_ name: some FileName) throws(VaultError) -> OpenFile {
        let name = try CheckedName(name, in: self)
        return try unsafe OpenFile.open(
            descriptor, name.characters, VAULT_READ | VAULT_NO_FOLLOW, .reading, name.path(in: path))
    }

    /// Opens a regular file for reading and writing, otherwise as ``openFile(_:)``.
    public func updateFile(_ name: some FileName) throws(VaultError) -> OpenFile {
        let name = try CheckedName(name, in: self)
        return try unsafe OpenFile.open(
            descriptor, name.characters, VAULT_UPDATE, .changing, name.path(in: path))
    }

    /// Opens a regular file for writing at its end, otherwise as ``openFile(_:)``: each write is appended as a whole, whatever its
    /// offset, beside those of other processes.
    public func appendToFile(_ name: some FileName) throws(VaultError) -> OpenFile {
        let name = try CheckedName(name, in: self)
        return try unsafe OpenFile.open(
            descriptor, name.characters, VAULT_APPEND, .changing, name.path(in: path))
    }

    /// Creates a file, for reading and writing, with exactly these permissions whatever the umask. Throws `.unwritable`
    /// when the name exists or the file can't be created.
    public func createFile(_ name: some FileName, permissions: UInt16) throws(VaultError) -> OpenFile {
        let name = try CheckedName(name, in: self)
        return try unsafe OpenFile.create(descriptor, name.characters, permissions, name.path(in: path))
    }

    /// Opens a folder in this one. Throws `.corrupt` for a link and any other kind.
    public func openFolder(_ name: some FileName) throws(VaultError) -> Folder {
        let name = try CheckedName(name, in: self)
        return try unsafe Folder.open(
            descriptor, name.characters, VAULT_FOLDER | VAULT_NO_FOLLOW, name.path(in: path))
    }

    /// Creates a folder with exactly these permissions whatever the umask. Throws `.unwritable` when the name exists or
    /// the folder can't be created.
    @discardableResult
    public func createFolder(_ name: some FileName, permissions: UInt16) throws(VaultError) -> Folder {
        let name = try CheckedName(name, in: self)
        return try unsafe Folder.create(descriptor, name.characters, permissions, name.path(in: path))
    }
}
