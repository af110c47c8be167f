internal import CVaultSystem
public import SystemPackage
public import VaultErrors

extension Folder {
    /// Gives the raw bytes of every name but `.` and `..`, in no order.
    public func forEachName(_ body: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        // A stream owns its descriptor and has a position, so it gets its own.
        let opened = unsafe ".".withCString { unsafe vault_open(descriptor, $0, VAULT_FOLDER, 0) }
        try check(opened, .reading, "list", path)
        guard let stream = unsafe vault_names(opened) else {
            vault_close(opened)
            throw .system(ENOMEM, .reading, "list", path)
        }
        defer { unsafe closedir(stream) }
        var failure: Int32 = 0
        while let name = unsafe vault_next_name(stream, &failure) {
            let bytes = unsafe Array(UnsafeBufferPointer(start: name, count: strlen(name)))
                .map(UInt8.init(bitPattern:))
            if bytes != Self.this && bytes != Self.parent { try body(bytes) }
        }
        try check(-failure, .reading, "list", path)
    }

    /// The raw bytes of every name, sorted by bytes.
    public func names() throws(VaultError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try forEachName { (name) throws(VaultError) in names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static let this = [UInt8(ascii: ".")]
    private static let parent = [UInt8(ascii: "."), UInt8(ascii: ".")]

    /// Removes a file, link, pipe or socket, but no folder. Throws `.missing` when there is none.
    public func unlink(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: path)
        let result = unsafe vault_unlink(descriptor, name.characters)
        try check(result, .changing, "remove", name.path(in: path))
    }

    /// Removes an empty folder.
    public func removeFolder(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: path)
        let result = unsafe vault_rmdir(descriptor, name.characters)
        if result == -ENOTEMPTY || result == -EEXIST {
            throw VaultError(
                .unwritable, "can't remove the folder: it is not empty", at: name.path(in: path).string,
                remedy: "remove what it holds first")
        }
        try check(result, .changing, "remove the folder", name.path(in: path))
    }

    /// Removes an entry and all it holds; absent is fine. See `FileSystem.removeTree(_:)`.
    public func removeTree(_ name: some FileName) throws(VaultError) {
        let name = try CheckedName(name, in: path)
        try TreeRemoval.remove(name.characters, in: descriptor, path: name.path(in: path))
    }

    /// Moves an entry to a name in a folder on the same file system, in one step.
    ///
    /// Without `replacing` an existing name throws `.unwritable`; with it, a file replaces a file and a
    /// folder an empty folder. Not durable before both folders are synchronized.
    public func rename(
        _ name: some FileName, to folder: borrowing Folder, as newName: some FileName, replacing: Bool
    ) throws(VaultError) {
        let old = try CheckedName(name, in: path)
        let new = try CheckedName(newName, in: folder.path)
        let result = unsafe vaultRename(
            descriptor, old.characters, folder.descriptor, new.characters, replacing: replacing)
        try checkRename(result, from: old.path(in: path), to: new.path(in: folder.path))
    }

    /// Makes a symbolic link; the target is not looked at.
    public func symlink(_ name: some FileName, target: FilePath) throws(VaultError) {
        let name = try CheckedName(name, in: path)
        let result = unsafe target.withPlatformString {
            unsafe vault_symlink($0, descriptor, name.characters)
        }
        try check(result, .creating, "create the link", name.path(in: path))
    }

    /// What a symbolic link points to, unchecked; nil when there is none. Throws `.corrupt` when it is
    /// something else than a link.
    public func readLink(_ name: some FileName) throws(VaultError) -> FilePath? {
        let name = try CheckedName(name, in: path)
        var target = [CChar](repeating: 0, count: 4097)
        let count = unsafe vault_readlink(descriptor, name.characters, &target, target.count - 1)
        if count == -Int(ENOENT) { return nil }
        if count == -Int(EINVAL), let found = try status(of: name) {
            throw .wrongKind(found.kind, wanted: .link, name.path(in: path))
        }
        try check(count, .reading, "read the link", name.path(in: path))
        target.removeLast(target.count - count - 1)
        return FilePath(platformString: target)
    }
}
