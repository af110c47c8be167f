public import SystemPackage
public import VaultErrors

/// A fresh folder (0700), removed with all it holds when the value is destroyed, unless it became final.
public struct ScratchFolder: ~Copyable, Sendable {
    public let folder: Folder
    private var place: ScratchPlace

    public var path: FilePath { folder.path }

    /// Beside `path`, so on the same file system as what will stand there. Throws `.unwritable`.
    public init(beside path: FilePath) throws(VaultError) {
        self = try ScratchPlace.make { () throws(VaultError) in try Self.make(try Folder(holding: path)) }
    }

    /// In an existing folder. Throws `.missing` where there is none, `.unwritable` where it can't be.
    public init(in folder: FilePath) throws(VaultError) {
        self = try ScratchPlace.make { () throws(VaultError) in try Self.make(try Folder(opening: folder)) }
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
        try folder.setFirstPermissions(permissions)
        try folder.synchronizeFileSystem()
        try place.settle(
            as: name, in: parent.descriptor, path: target, replacing: replacingEmptyFolder)
        try parent.synchronize()
        try place.folder.synchronize()
    }

    /// Leaves the folder where it is, for the caller to move or remove.
    public consuming func keep() -> FilePath {
        place.keep()
        return path
    }

    private init(folder: consuming Folder, place: consuming ScratchPlace) {
        self.folder = folder
        self.place = place
    }

    private static func make(_ parent: consuming Folder) throws(VaultError) -> ScratchFolder {
        let place = try ScratchPlace(in: parent)
        let folder = try place.create { (folder, name) throws(VaultError) in
            try folder.createFolder(name, permissions: 0o700)
        }
        try place.claim(folder)
        return ScratchFolder(folder: folder, place: place)
    }
}

extension OpenFile {
    /// A new file without a name, in the file system of an existing folder: it is gone when it is closed, even if this process
    /// is killed.
    public init(namelessIn folder: FilePath) throws(VaultError) {
        self = try ScratchFolder(in: folder).folder.createFile("file", permissions: 0o600)
    }
}
