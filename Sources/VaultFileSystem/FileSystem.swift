import CVaultSystem
public import SystemPackage
public import VaultBase

/// Operations by path. Links in the folders of a path are followed.
public enum FileSystem {
    /// The status of the entry at a path; nil when there is none, or when links are followed and lead nowhere.
    public static func status(of path: FilePath, followingLinks: Bool = false) throws(VaultError)
        -> FileStatus?
    {
        var status = stat()
        let result = unsafe vault_stat(VAULT_WORKING_FOLDER, path.characters, followingLinks ? 1 : 0, &status)
        if result == -ENOENT || result == -ENOTDIR { return nil }
        try check(result, .reading, "read the status", path)
        return FileStatus(status)
    }

    /// Whether there is an entry at a path, even a broken link.
    public static func exists(_ path: FilePath) throws(VaultError) -> Bool {
        try status(of: path) != nil
    }

    /// Moves a file or folder within one file system, atomically.
    ///
    /// Without `replacing` an existing name throws `.unwritable`; with it, a file replaces a file and a folder an empty
    /// folder. Not durable by itself, and `.io` across file systems: see ``FileMove``.
    public static func move(_ source: FilePath, to target: FilePath, replacing: Bool = false)
        throws(VaultError)
    {
        try checkRename(rename(source, target, replacing: replacing), from: source, to: target)
    }

    static func rename(_ source: FilePath, _ target: FilePath, replacing: Bool) -> Int32 {
        unsafe vaultRename(
            VAULT_WORKING_FOLDER, source.characters, VAULT_WORKING_FOLDER, target.characters,
            replacing: replacing)
    }

    /// Removes a file. Throws `.missing` when there is none.
    public static func removeFile(_ path: FilePath) throws(VaultError) {
        let result = unsafe vault_unlink(VAULT_WORKING_FOLDER, path.characters)
        try check(result, .changing, "remove", path)
    }

    /// Creates a folder and its missing parents, durably, each with exactly these permissions; existing ones are
    /// unchanged. Throws `.unwritable`, or `.busy` when another process removes the folder meanwhile.
    public static func createFolders(_ path: FilePath, permissions: UInt16) throws(VaultError) {
        var missing: [FilePath] = []
        var next = path
        while !next.isEmpty, try status(of: next, followingLinks: true) == nil {
            missing.append(next)
            next = next.parent
        }
        for path in missing.reversed() {
            do {
                _ = try Folder(creating: path, permissions: permissions)
                try Folder(opening: path.parent).synchronize()
            } catch {
                // Another process may have created it.
                guard try status(of: path, followingLinks: true)?.kind == .folder else { throw error }
            }
        }
        guard let found = try status(of: path.isEmpty ? "." : path, followingLinks: true) else {
            throw VaultError(
                .busy, "another process removed the folder", at: path.string, remedy: "try again")
        }
        guard found.kind == .folder else {
            throw VaultError(
                .unwritable, "can't create the folder: a file has that name", at: path.string,
                remedy: "remove it or choose another name")
        }
    }

    /// Removes whatever is at a path, a folder with its content; nothing happens when it does not exist.
    ///
    /// Follows no link, stays on one file system, needs two descriptors at any depth, and makes folders writable where
    /// necessary. Stops at the first error.
    public static func removeTree(_ path: FilePath) throws(VaultError) {
        let name = try CheckedName(endOf: path)
        let opened = unsafe vault_open(VAULT_WORKING_FOLDER, path.parent.characters, VAULT_PATH_ONLY, 0)
        if opened == -ENOENT || opened == -ENOTDIR { return }
        try check(opened, .changing, "open the folder", path.parent)
        let folder = Folder(takingOwnershipOf: opened, named: path.parent)
        try TreeRemoval.remove(name.characters, in: folder.descriptor, path: path)
    }

    /// The bytes that an unprivileged user may still write on the file system of an existing path.
    public static func availableSpace(at path: FilePath) throws(VaultError) -> UInt64 {
        var status = statvfs()
        let result = unsafe vault_statvfs(path.characters, &status)
        try check(result, .reading, "measure the free space", path)
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return overflow ? .max : bytes
    }

    /// Whether two existing paths are on one file system. A hint: because of mounts a rename can still fail.
    public static func sameFileSystem(_ one: FilePath, _ other: FilePath) throws(VaultError) -> Bool {
        try requireStatus(of: one).device == requireStatus(of: other).device
    }

    private static func requireStatus(of path: FilePath) throws(VaultError) -> FileStatus {
        guard let status = try status(of: path, followingLinks: true) else {
            throw .system(ENOENT, .reading, "read the status", path)
        }
        return status
    }
}

/// The attributes of a file, folder or link at one moment (`stat`).
public struct FileStatus: Sendable, Hashable {
    /// The names are part of the fingerprints that a store keeps.
    public enum Kind: String, Sendable, Hashable {
        case file, folder, link
        case pipe, socket, device

        /// Such as "a folder".
        var withArticle: String {
            switch self {
            case .file: "a regular file"
            case .folder: "a folder"
            case .link: "a symbolic link"
            case .pipe: "a pipe"
            case .socket: "a socket"
            case .device: "a device"
            }
        }
    }

    public let kind: Kind
    /// In bytes, meaningful for files.
    public let size: UInt64
    /// Bytes of the file that are on the disk: holes take none.
    public let allocatedSize: UInt64
    /// The twelve permission bits.
    public let permissions: UInt16
    /// The user ID of the owner.
    public let owner: UInt32
    /// The number of names that the file has.
    public let hardLinks: UInt64
    /// Device and inode together identify the file.
    public let device: UInt64
    public let inode: UInt64
    /// The time of the last change of the content: nanoseconds since 1970.
    public let modified: Int64
    /// The time of the last change of content or status, which programs can't set: nanoseconds since 1970.
    public let changed: Int64

    init(_ status: stat) {
        kind =
            switch Int32(bitPattern: status.st_mode) & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            default: .device
            }
        size = UInt64(clamping: status.st_size)
        allocatedSize = min(size, min(UInt64(clamping: status.st_blocks), .max / 512) * 512)
        permissions = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        owner = status.st_uid
        hardLinks = UInt64(clamping: status.st_nlink)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        modified = status.st_mtim.nanoseconds
        changed = status.st_ctim.nanoseconds
    }

    /// Throws `.corrupt` when it is of another kind.
    func require(_ wanted: Kind, _ path: FilePath) throws(VaultError) {
        guard kind != wanted else { return }
        throw VaultError(
            .corrupt, "is \(kind.withArticle), not \(wanted.withArticle)", at: path.string,
            remedy: "put \(wanted.withArticle) there or use another path")
    }

    public var isOfThisUser: Bool { owner == geteuid() }

    /// Whether both are the same file, by device and inode.
    public func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}

extension timespec {
    /// Since 1970, clamped to the range of `Int64` (the years 1678 to 2262).
    fileprivate var nanoseconds: Int64 {
        let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return tv_sec < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(Int64(tv_nsec))
        return sumOverflow ? .max : sum
    }
}
