internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

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
