import CVaultSystem
public import SystemPackage
public import VaultBase

/// Changes of directory entries; durable only after `synchronize()` of each folder concerned.
extension Folder {
    /// Removes a file, link, pipe or socket, but no folder. Throws `.missing` when it does not exist.
    public func unlink(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        try check(
            unsafe vault_unlink(descriptor, name.characters), .changing, "remove", name.path(in: path))
    }

    /// Removes an entry with its content, if it exists. See ``FileSystem/removeTree(_:)``.
    public func removeTree(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        try TreeRemoval.remove(name.characters, in: descriptor, path: name.path(in: path))
    }

    /// Removes an entry with its content, if it exists, after renaming it: the name never refers to a partial tree.
    /// What is left when the process dies is scratch.
    public func discardTree(_ name: some FileName) throws(VaultError) {
        guard try status(of: name) != nil else { return }
        let scratch = try ScratchName.random(for: path)
        try rename(name, to: self, as: scratch, replacing: false)
        try synchronize()
        try removeTree(scratch)
    }

    /// Moves an entry to a folder on the same file system, atomically.
    ///
    /// Without `replacing` an existing name throws `.unwritable`; with it, a file replaces a file and a
    /// folder an empty folder.
    public func rename(
        _ name: some FileName, to folder: borrowing Folder, as newName: some FileName, replacing: Bool
    ) throws(VaultError) {
        let old = try CheckedName(name, in: self)
        let new = try CheckedName(newName, in: folder)
        let result = unsafe vaultRename(
            descriptor, old.characters, folder.descriptor, new.characters, replacing: replacing)
        try checkRename(result, from: old.path(in: path), to: new.path(in: folder.path))
    }

    /// Exchanges two entries atomically; where the file system can't do that, `first` is renamed temporarily.
    public func exchange(_ first: some FileName, with second: some FileName) throws(VaultError) {
        let (one, other) = (try CheckedName(first, in: self), try CheckedName(second, in: self))
        let result = unsafe vault_exchange(descriptor, one.characters, other.characters)
        guard result == -EINVAL || result == -ENOSYS else {
            try checkRename(result, from: one.path(in: path), to: other.path(in: path))
            return
        }
        let scratch = try ScratchName.random(for: path)
        try rename(first, to: self, as: scratch, replacing: false)
        try rename(second, to: self, as: first, replacing: false)
        try rename(scratch, to: self, as: second, replacing: false)
    }

    /// Creates a hard link in the same folder. Throws `.unwritable` when the name exists.
    public func link(_ name: some FileName, as newName: some FileName) throws(VaultError) {
        try link(name, into: self, as: newName)
    }

    /// Creates a hard link in another folder of the same file system. Throws `.unwritable` when the name exists.
    public func link(
        _ name: some FileName, into folder: borrowing Folder, as newName: some FileName
    ) throws(VaultError) {
        let old = try CheckedName(name, in: self)
        let new = try CheckedName(newName, in: folder)
        let result = unsafe vault_link(
            descriptor, old.characters, folder.descriptor, new.characters)
        try check(result, .creating, "link", new.path(in: folder.path))
    }

    /// Creates a symbolic link; the target is not checked. Throws `.unwritable` when the name exists.
    public func symlink(_ name: some FileName, target: FilePath) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        let result = unsafe vault_symlink(target.characters, descriptor, name.characters)
        try check(result, .creating, "create the link", name.path(in: path))
    }

    /// Creates a symbolic link or changes its target, atomically and durably. Throws `.unwritable` when the name is a
    /// folder.
    public func replaceLink(_ name: some FileName, target: FilePath) throws(VaultError) {
        let temporary = try ScratchName.random(for: path)
        try symlink(temporary, target: target)
        do {
            try rename(temporary, to: self, as: name, replacing: true)
        } catch {
            try? unlink(temporary)
            throw error
        }
        try synchronize()
    }

    /// Sets the modification time of an entry, not of a link's target: whole seconds since 1970, nil for now. A hint:
    /// errors are ignored.
    public func setModified(_ name: some FileName, to seconds: Int64?) {
        guard let name = try? CheckedName(name, in: self) else { return }
        if var seconds {
            unsafe vault_set_modified(descriptor, name.characters, &seconds)
        } else {
            unsafe vault_set_modified(descriptor, name.characters, nil)
        }
    }

    /// The target of a symbolic link, unchecked; nil when it does not exist. Throws `.corrupt` when it is not a link.
    public func readLink(_ name: some FileName) throws(VaultError) -> FilePath? {
        guard let status = try status(of: name) else { return nil }
        let name = try CheckedName(name, in: self)
        try status.require(.link, name.path(in: path))
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = unsafe vault_readlink(descriptor, name.characters, &target, target.count - 1)
        try check(count, .reading, "read the link", name.path(in: path))
        target.removeLast(target.count - count - 1)
        return FilePath(platformString: target)
    }
}

/// Renames atomically; returns 0 or -errno. Without `replacing` an existing name is EEXIST.
func vaultRename(
    _ fromFolder: Int32, _ from: UnsafePointer<CChar>, _ toFolder: Int32, _ to: UnsafePointer<CChar>,
    replacing: Bool
) -> Int32 {
    if replacing { return unsafe vault_rename(fromFolder, from, toFolder, to) }
    let result = unsafe vault_rename_new(fromFolder, from, toFolder, to)
    guard result == -EINVAL || result == -ENOSYS else { return result }
    // NFS and some others lack RENAME_NOREPLACE. A hard link refuses an existing name as well; folders can't have one,
    // so an empty folder created in between would be replaced.
    let linked = unsafe vault_link(fromFolder, from, toFolder, to)
    if linked == 0 { return unsafe vault_unlink(fromFolder, from) }
    if linked == -EEXIST { return linked }
    var status = stat()
    let found = unsafe vault_stat(toFolder, to, 0, &status)
    if found == 0 { return -EEXIST }
    return found == -ENOENT ? unsafe vault_rename(fromFolder, from, toFolder, to) : found
}

/// Throws for a failed rename, with the path that caused the failure.
func checkRename(_ result: Int32, from: FilePath, to: FilePath) throws(VaultError) {
    guard result < 0 else { return }
    if result == -ENOENT || result == -ENOTDIR {
        if try FileSystem.status(of: from) == nil { throw .system(ENOENT, .changing, "move", from) }
    }
    throw .system(result, .creating, "move \(from.string) here", to)
}
