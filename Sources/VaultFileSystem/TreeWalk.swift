import CVaultSystem
import SystemPackage
public import VaultBase

/// Opens folders below a root without following links. Entries are sorted, so most are in the same folder as the
/// previous one: the path is walked again only when the folder changes.
public struct FolderWalk: ~Copyable, Sendable {
    private let root: Folder
    public private(set) var folder: Folder
    private var segments: [String] = []

    public init(below root: consuming Folder) throws(VaultError) {
        folder = try root.reopened()
        self.root = root
    }

    /// Opens the folder at `segments`, by a step from each folder to the next one.
    public mutating func enter(
        _ segments: some Collection<String>,
        by step: (borrowing Folder, String) throws(VaultError) -> Folder = { try $0.openFolder($1) }
    ) throws(VaultError) {
        guard !segments.elementsEqual(self.segments, by: { $0.utf8.elementsEqual($1.utf8) }) else { return }
        var next = try root.reopened()
        for segment in segments { next = try step(next, segment) }
        folder = next
        self.segments = Array(segments)
    }
}

extension Folder {
    /// The number of folders inside each other that are entered: more can't be named by a path of the system.
    private static let depthLimit = 512

    /// Passes everything below this folder to `visit`, by its path from here, in the order of the names' bytes. Never goes
    /// through a link. Throws `.corrupt` for folders that are nested too deep.
    public func forEachEntry(
        below prefix: String = "", _ visit: (_ path: String, _ status: FileStatus) throws(VaultError) -> Void
    ) throws(VaultError) {
        try forEachEntry(below: prefix, depth: 0, visit)
    }

    private func forEachEntry(
        below prefix: String, depth: Int,
        _ visit: (_ path: String, _ status: FileStatus) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard depth < Self.depthLimit else {
            throw VaultError(
                .corrupt, "more than \(Self.depthLimit) folders are nested", at: path.string,
                remedy: "remove them")
        }
        for bytes in try names().sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let name = String(decoding: bytes, as: UTF8.self)
            guard let status = try status(of: name) else { continue }
            try visit(prefix + name, status)
            guard status.kind == .folder else { continue }
            try openFolder(name).forEachEntry(below: "\(prefix)\(name)/", depth: depth + 1, visit)
        }
    }
}

/// Removes a tree without ever leaving it.
///
/// All work uses the descriptor of the current folder, opened without following links. The way down is recorded by
/// device and inode, and `..` must lead back to the same folders: so any depth needs two descriptors, and a folder that
/// is moved elsewhere meanwhile stops the work. Of a folder with many folders a part is removed at a time.
struct TreeRemoval: ~Copyable {
    private struct Level {
        let name: [CChar]
        let status: FileStatus
        /// Its folders that are not removed yet, and whether it has others.
        var subfolders: [[CChar]] = []
        var hasOthers = false
        /// How often its folders were listed because there were others.
        var rounds = 0
        var attempts = 0
    }

    /// How often a folder is emptied again because another process adds files to it.
    private static let attemptLimit = 100
    /// Number of folders in a folder that are known at a time.
    private static let subfolderLimit = 4096
    /// How often such a part is removed: another process could add folders for ever.
    private static let roundLimit = 1024

    private let parent: Int32
    private let path: FilePath
    private var current: Folder
    private var levels: [Level]

    /// Removes `name` in the folder `parent`, if it exists. `path` is for messages.
    static func remove(_ name: [CChar], in parent: Int32, path: FilePath) throws(VaultError) {
        let removed = unsafe vault_unlink(parent, name)
        if removed == 0 || removed == -ENOENT { return }
        if removed != -EISDIR { throw .system(removed, .changing, "remove", path) }
        guard let folder = try open(name, in: parent, path: path) else { return }
        let top = Level(name: name, status: try folder.status())
        var removal = TreeRemoval(parent: parent, path: path, current: folder, levels: [top])
        try removal.run()
    }

    private mutating func run() throws(VaultError) {
        try removeFiles()
        while !levels.isEmpty {
            if let subfolder = levels[levels.count - 1].subfolders.popLast() {
                try descend(into: subfolder)
            } else {
                try ascend()
            }
        }
    }

    /// Unlinks everything but folders in the current one, and collects the folders.
    private mutating func removeFiles() throws(VaultError) {
        let descriptor = current.descriptor
        var subfolders: [[CChar]] = []
        var hasOthers = false
        var failure: (result: Int32, name: [CChar])?
        try current.visitNames(whileTrue: { bytes in
            let name = bytes.map(CChar.init(bitPattern:)) + [0]
            let removed = unsafe vault_unlink(descriptor, name)
            if removed == -EISDIR {
                hasOthers = subfolders.count == Self.subfolderLimit
                if !hasOthers { subfolders.append(name) }
                return !hasOthers
            }
            if removed < 0, removed != -ENOENT { failure = (removed, name) }
            return failure == nil
        })
        if let failure {
            try check(failure.result, .changing, "remove", Self.entry(of: failure.name, in: levels, path))
        }
        levels[levels.count - 1].subfolders = subfolders
        levels[levels.count - 1].hasOthers = hasOthers
    }

    private mutating func descend(into name: [CChar]) throws(VaultError) {
        guard
            let folder = try Self.open(
                name, in: current.descriptor, path: Self.entry(of: name, in: levels, path))
        else { return }
        let status = try folder.status()
        guard status.device == levels[0].status.device else {
            throw VaultError(
                .io, "can't remove: another file system is mounted here",
                at: Self.entry(of: name, in: levels, path).string,
                remedy: "unmount it first")
        }
        self.levels.append(Level(name: name, status: status))
        current = folder
        try removeFiles()
    }

    /// Removes the current, empty folder, and returns to its parent.
    private mutating func ascend() throws(VaultError) {
        let level = levels[levels.count - 1]
        if level.hasOthers, level.rounds < Self.roundLimit {
            levels[levels.count - 1].rounds += 1
            return try removeFiles()
        }
        let removed: Int32
        if levels.count == 1 {
            removed = unsafe vault_rmdir(parent, level.name)
        } else {
            let above = try folderAbove()
            removed = unsafe vault_rmdir(above.descriptor, level.name)
            if removed != -ENOTEMPTY { current = above }
        }
        if removed == -ENOTEMPTY, level.attempts < Self.attemptLimit {
            levels[levels.count - 1].attempts += 1
            return try removeFiles()
        }
        levels.removeLast()
        if removed != -ENOENT {
            try check(removed, .changing, "remove the folder", Self.entry(of: level.name, in: levels, path))
        }
    }

    private func folderAbove() throws(VaultError) -> Folder {
        let opened = unsafe vault_open(current.descriptor, FilePath("..").characters, VAULT_FOLDER, 0)
        try check(opened, .changing, "remove the folder", path)
        let above = Folder(takingOwnershipOf: opened, named: path)
        guard try above.status().isSameFile(as: levels[levels.count - 2].status) else {
            throw VaultError(
                .io, "can't remove the folder: another process moved parts of it elsewhere", at: path.string,
                remedy: "try again when no process uses it")
        }
        return above
    }

    /// The path of an entry of the innermost level, for messages only, since it may be long.
    private static func entry(of name: [CChar], in levels: [Level], _ top: FilePath) -> FilePath {
        var path = top
        for level in levels.dropFirst() { path = path.appending(characters: level.name) }
        return levels.isEmpty ? top : path.appending(characters: name)
    }

    /// Opens a folder and makes it writable for its owner; nil when it does not exist, or was not a folder and is now
    /// unlinked.
    private static func open(
        _ name: [CChar], in parent: Int32, path: @autoclosure () -> FilePath
    ) throws(VaultError) -> Folder? {
        var opened = unsafe vault_open(parent, name, VAULT_FOLDER | VAULT_NO_FOLLOW, 0)
        if opened == -EACCES, unsafe vault_chmod(parent, name, 0o700) == 0 {
            opened = unsafe vault_open(parent, name, VAULT_FOLDER | VAULT_NO_FOLLOW, 0)
        }
        if opened == -ENOENT { return nil }
        if opened == -ENOTDIR || opened == -ELOOP {
            let removed = unsafe vault_unlink(parent, name)
            if removed != -ENOENT { try check(removed, .changing, "remove", path()) }
            return nil
        }
        try check(opened, .changing, "open the folder to remove it", path())
        let folder = Folder(takingOwnershipOf: opened, named: "")
        if try folder.status().permissions & 0o700 != 0o700 {
            // If this is not permitted, removing the content fails with the reason.
            _ = vault_fchmod(folder.descriptor, 0o700)
        }
        return folder
    }
}
