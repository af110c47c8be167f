public import SystemPackage
public import VaultErrors

/// A new temporary folder (0700), removed with its content when the value is destroyed, unless it was committed.
public struct ScratchFolder: ~Copyable, Sendable {
    public let folder: Folder
    private var entry: ScratchEntry

    public var path: FilePath { folder.path }

    /// Creates it beside `path`, so on the same file system. Throws `.unwritable`.
    public init(beside path: FilePath) throws(VaultError) {
        self = try ScratchEntry.make { () throws(VaultError) in try Self.make(try Folder(holding: path)) }
    }

    /// Creates it in an existing folder. Throws `.missing` when that does not exist, `.unwritable` when it can't be
    /// written.
    public init(in folder: FilePath) throws(VaultError) {
        self = try ScratchEntry.make { () throws(VaultError) in try Self.make(try Folder(opening: folder)) }
    }

    /// Saves the whole file system to the disk and gives the folder its final name, on the same file
    /// system, and permissions.
    ///
    /// An existing name throws `.unwritable`, except an empty folder where `replacingEmptyFolder`. On any
    /// error before the rename the folder is removed.
    public consuming func commit(
        to target: FilePath, permissions: UInt16, replacingEmptyFolder: Bool = false
    ) throws(VaultError) {
        let name = try CheckedName(endOf: target)
        let parent = try Folder(holding: target)
        try folder.setPermissionsOfNew(permissions)
        try folder.synchronizeFileSystem()
        try entry.commit(
            as: name, in: parent.descriptor, path: target, replacing: replacingEmptyFolder)
        try parent.synchronize()
        try entry.folder.synchronize()
    }

    /// Leaves the folder in place, for the caller to move or remove.
    public consuming func keep() -> FilePath {
        entry.keep()
        return path
    }

    private init(folder: consuming Folder, entry: consuming ScratchEntry) {
        self.folder = folder
        self.entry = entry
    }

    private static func make(_ parent: consuming Folder) throws(VaultError) -> ScratchFolder {
        let entry = try ScratchEntry(in: parent)
        let folder = try entry.create { (folder, name) throws(VaultError) in
            try folder.createFolder(name, permissions: 0o700)
        }
        try entry.claim(folder)
        return ScratchFolder(folder: folder, entry: entry)
    }
}

extension OpenFile {
    /// A new file without a name, in the file system of an existing folder: it is gone when it is closed, even if this process
    /// is killed.
    public init(namelessIn folder: FilePath) throws(VaultError) {
        self = try ScratchFolder(in: folder).folder.createFile("file", permissions: 0o600)
    }
}
