internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// A fresh folder (0700) beside a path, removed with all it holds when the value goes away, unless it
/// became final.
public struct ScratchFolder: ~Copyable, Sendable {
    /// The folder itself; it stays valid after ``commit(to:permissions:replacingEmptyFolder:)``.
    public let folder: Folder
    private let parent: Folder
    private let entry: LiveScratch.Entry
    private var isFinal: Bool

    public var path: FilePath { folder.path }

    /// Beside `path`, so on the same file system as what will stand there. Throws `.unwritable`.
    public init(beside path: FilePath) throws(VaultError) {
        self = try Self.make(in: try Folder(holding: path))
    }

    /// In an existing folder. Throws `.unwritable`.
    public init(in folder: FilePath) throws(VaultError) {
        self = try Self.make(in: try Folder(opening: folder))
    }

    private init(folder: consuming Folder, parent: consuming Folder, entry: LiveScratch.Entry) {
        self.folder = folder
        self.parent = parent
        self.entry = entry
        isFinal = false
    }

    private static func make(in parent: consuming Folder) throws(VaultError) -> ScratchFolder {
        let name = try ScratchName.random(for: parent.path)
        let entry = LiveScratch.Entry(
            parent: parent.descriptor, name: try CheckedName(name, in: parent.path).characters)
        LiveScratch.add(entry)
        do {
            let folder = try parent.createFolder(name, permissions: 0o700)
            _ = vault_try_lock(folder.descriptor, 1)
            return ScratchFolder(folder: folder, parent: parent, entry: entry)
        } catch {
            LiveScratch.forget(entry)
            throw error
        }
    }

    /// Saves the whole file system to the disk and gives the folder its final name, which must be in the
    /// same folder, and permissions.
    ///
    /// An existing name throws `.unwritable`, except an empty folder where `replacingEmptyFolder`. On any
    /// error the folder is removed.
    public consuming func commit(
        to target: FilePath, permissions: UInt16, replacingEmptyFolder: Bool = false
    ) throws(VaultError) {
        guard let final = target.lastComponent, final.kind == .regular else {
            throw .system(EISDIR, .creating, "create", target)
        }
        let place = try Folder(holding: target)
        guard try place.status().isSameFile(as: try parent.status()) else {
            throw .system(EXDEV, .creating, "move \(path.string) here", target)
        }
        try folder.setPermissions(permissions)
        try folder.synchronizeFileSystem()
        try LiveScratch.settle(entry) { () throws(VaultError) in
            try place.finish(entry.name, as: final, replacing: replacingEmptyFolder, target: target)
        }
        isFinal = true
        try parent.synchronize()
    }

    /// Leaves the folder where it is, for the caller to remove or rename.
    public consuming func keep() -> FilePath {
        isFinal = true
        LiveScratch.forget(entry)
        return path
    }

    deinit {
        if !isFinal {
            try? TreeRemoval.remove(entry.name, in: entry.parent, path: path)
            LiveScratch.forget(entry)
        }
    }
}
