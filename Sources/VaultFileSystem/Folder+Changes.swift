internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// Changes of names; durable only after `synchronize()` of each folder concerned.
extension Folder {
    /// Removes a file, link, pipe or socket, but no folder. Throws `.missing` when there is none.
    public func unlink(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        try check(
            unsafe vault_unlink(descriptor, name.characters), .changing, "remove", name.path(in: path))
    }

    /// Removes an empty folder. Throws `.unwritable` when it holds something.
    public func removeFolder(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        let result = unsafe vault_rmdir(descriptor, name.characters)
        if result == -ENOTEMPTY || result == -EEXIST {
            throw VaultError(
                .unwritable, "can't remove the folder: it is not empty", at: name.path(in: path).string,
                remedy: "remove what it holds first")
        }
        try check(result, .changing, "remove the folder", name.path(in: path))
    }

    /// Removes an entry and all it holds; absent is fine. See ``FileSystem/removeTree(_:)``.
    public func removeTree(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        try TreeRemoval.remove(name.characters, in: descriptor, path: name.path(in: path))
    }

    /// Removes an entry and all it holds so that its name never stands for a part of it: it loses the name first.
    /// Absent is fine. What is left when the process dies is scratch.
    public func discardTree(_ name: some FileName) throws(VaultError) {
        guard try status(of: name) != nil else { return }
        let scratch = try ScratchName.random(for: path)
        try rename(name, to: self, as: scratch, replacing: false)
        try synchronize()
        try removeTree(scratch)
    }

    /// Moves an entry to a name in a folder on the same file system, in one step.
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

    /// Two entries take each other's name in one step; where the file system can't do that, `first` goes aside for a moment.
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

    /// Gives a file one name more in the same folder (a hard link). Throws `.unwritable` when the name exists.
    public func link(_ name: some FileName, as newName: some FileName) throws(VaultError) {
        let old = try CheckedName(name, in: self)
        let new = try CheckedName(newName, in: self)
        let result = unsafe vault_link(descriptor, old.characters, descriptor, new.characters)
        try check(result, .creating, "link", new.path(in: path))
    }

    /// Makes a symbolic link; the target is not looked at. Throws `.unwritable` when the name exists.
    public func symlink(_ name: some FileName, target: FilePath) throws(VaultError) {
        let name = try CheckedName(name, in: self)
        let result = unsafe vault_symlink(target.characters, descriptor, name.characters)
        try check(result, .creating, "create the link", name.path(in: path))
    }

    /// Makes a symbolic link point elsewhere, or makes it, in one durable step. Throws `.unwritable` when
    /// the name is a folder.
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

    /// Sets the time of an entry's last change, of a link's own: whole seconds since 1970, nil for now. A hint: no error shows.
    public func setModified(_ name: some FileName, to seconds: Int64?) {
        guard let name = try? CheckedName(name, in: self) else { return }
        if var seconds {
            unsafe vault_set_modified(descriptor, name.characters, &seconds)
        } else {
            unsafe vault_set_modified(descriptor, name.characters, nil)
        }
    }

    /// What a symbolic link points to, unchecked; nil when there is none. Throws `.corrupt` when it is
    /// something else than a link.
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
