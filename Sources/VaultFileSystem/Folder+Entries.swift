internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

extension Folder {
    /// The status of an entry, links not followed; nil when there is none.
    public func status(of name: some FileName) throws(VaultError) -> FileStatus? {
        try status(of: try CheckedName(name, in: path))
    }

    func status(of name: CheckedName) throws(VaultError) -> FileStatus? {
        var status = stat()
        let result = unsafe vault_stat(descriptor, name.characters, 0, &status)
        if result == -ENOENT { return nil }
        try check(result, .reading, "read the status", name.path(in: path))
        return FileStatus(status)
    }

    /// Opens a regular file for reading. Throws `.corrupt` for a link and for everything else, and never
    /// waits on a pipe.
    public func openFile(_ name: some FileName) throws(VaultError) -> OpenFile {
        try open(name, flags: VAULT_READ | VAULT_NO_FOLLOW, .reading)
    }

    /// Opens a regular file for reading and writing.
    public func updateFile(_ name: some FileName) throws(VaultError) -> OpenFile {
        try open(name, flags: VAULT_UPDATE, .changing)
    }

    /// Makes a new file, for reading and writing, with exactly these permissions whatever the umask.
    /// Throws `.unwritable` when the name exists or can't be made.
    public func createFile(_ name: some FileName, permissions: UInt16) throws(VaultError) -> OpenFile {
        let name = try CheckedName(name, in: path)
        let place = name.path(in: path)
        let opened = unsafe vault_open(descriptor, name.characters, VAULT_CREATE, 0o600)
        let file = OpenFile(takingOwnershipOf: try check(opened, .creating, "create", place), named: place)
        try file.setPermissions(permissions)
        return file
    }

    /// Makes a new folder with exactly these permissions whatever the umask.
    /// Throws `.unwritable` when the name exists or can't be made.
    @discardableResult
    public func createFolder(_ name: some FileName, permissions: UInt16) throws(VaultError) -> Folder {
        let name = try CheckedName(name, in: path)
        let place = name.path(in: path)
        let opened = unsafe makeFolder(descriptor, name.characters)
        let folder = Folder(
            takingOwnershipOf: try check(opened, .creating, "create the folder", place), named: place)
        try folder.setPermissions(permissions)
        return folder
    }

    /// Opens a folder in this one. Throws `.corrupt` for a link.
    public func openFolder(_ name: some FileName) throws(VaultError) -> Folder {
        let name = try CheckedName(name, in: path)
        let place = name.path(in: path)
        let flags = VAULT_FOLDER | VAULT_NO_FOLLOW
        let opened = unsafe vault_open(descriptor, name.characters, flags, 0)
        if opened == -ENOTDIR, let found = try status(of: name), found.kind != .folder {
            throw .wrongKind(found.kind, wanted: .folder, place)
        }
        return Folder(takingOwnershipOf: try check(opened, .reading, "open the folder", place), named: place)
    }

    private func open(_ name: some FileName, flags: Int32, _ purpose: Purpose) throws(VaultError) -> OpenFile
    {
        let name = try CheckedName(name, in: path)
        let place = name.path(in: path)
        let opened = unsafe vault_open(descriptor, name.characters, flags, 0)
        // What can't be opened this way: links (ELOOP), folders for writing, sockets, pipes nobody reads.
        if opened == -ELOOP || opened == -EISDIR || opened == -ENXIO,
            let found = try status(of: name), found.kind != .file
        {
            throw .wrongKind(found.kind, wanted: .file, place)
        }
        let file = OpenFile(takingOwnershipOf: try check(opened, purpose, "open", place), named: place)
        try file.requireRegular()
        return file
    }
}
