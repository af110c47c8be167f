internal import CVaultSystem
internal import SystemPackage
internal import VaultErrors

/// Removes a tree without ever leaving it.
///
/// Everything goes through the descriptor of the one folder at hand, opened without following links. The
/// way down is remembered by device and inode, and the way up (`..`) must lead there again: so any depth
/// needs two descriptors, and a folder that somebody moves elsewhere meanwhile stops the work.
struct TreeRemoval: ~Copyable {
    private struct Level {
        let name: [CChar]
        let status: FileStatus
        var subfolders: [[CChar]] = []
        var attempts = 0
    }

    /// How often a folder is emptied again because somebody puts new files into it.
    private static let patience = 100

    private let path: FilePath
    private var current: Folder
    private var levels: [Level]

    /// Removes `name` in the folder `parent`; absent is fine. `path` is for messages.
    static func remove(_ name: [CChar], in parent: Int32, path: FilePath) throws(VaultError) {
        let removed = unsafe vault_unlink(parent, name)
        if removed == 0 || removed == -ENOENT { return }
        if removed != -EISDIR { throw .system(removed, .changing, "remove", path) }
        guard let folder = try open(name, in: parent, path: path) else { return }
        var removal = TreeRemoval(path: path, current: folder, levels: [])
        removal.levels.append(Level(name: name, status: try removal.current.status()))
        try removal.run(in: parent)
    }

    private init(path: FilePath, current: consuming Folder, levels: [Level]) {
        self.path = path
        self.current = current
        self.levels = levels
    }

    private mutating func run(in parent: Int32) throws(VaultError) {
        try removeFiles()
        while !levels.isEmpty {
            if let subfolder = levels[levels.count - 1].subfolders.popLast() {
                try descend(into: subfolder)
            } else {
                try ascend(to: parent)
            }
        }
    }

    /// Unlinks what is no folder in the current one, and remembers the folders.
    private mutating func removeFiles() throws(VaultError) {
        var subfolders: [[CChar]] = []
        let folder = current.descriptor
        let path = path
        try current.forEachName { (bytes) throws(VaultError) in
            let name = bytes.map(CChar.init(bitPattern:)) + [0]
            let removed = unsafe vault_unlink(folder, name)
            if removed == -EISDIR {
                subfolders.append(name)
            } else if removed != -ENOENT {
                try check(removed, .changing, "remove a file", path)
            }
        }
        levels[levels.count - 1].subfolders = subfolders
    }

    private mutating func descend(into name: [CChar]) throws(VaultError) {
        guard let folder = try Self.open(name, in: current.descriptor, path: path) else { return }
        let status = try folder.status()
        guard status.device == levels[0].status.device else {
            throw VaultError(
                .io, "can't remove the folder: another file system is mounted in it", at: path.string,
                remedy: "unmount it first")
        }
        levels.append(Level(name: name, status: status))
        current = folder
        try removeFiles()
    }

    /// Removes the current folder, which was emptied, and goes to the one that holds it.
    private mutating func ascend(to parent: Int32) throws(VaultError) {
        let level = levels[levels.count - 1]
        var removed: Int32
        if levels.count == 1 {
            removed = unsafe vault_rmdir(parent, level.name)
        } else {
            let opened = unsafe "..".withCString {
                unsafe vault_open(current.descriptor, $0, VAULT_FOLDER, 0)
            }
            try check(opened, .changing, "remove the folder", path)
            let above = Folder(takingOwnershipOf: opened, named: path)
            guard try above.status().isSameFile(as: levels[levels.count - 2].status) else {
                throw VaultError(
                    .io, "can't remove the folder: somebody moves its folders elsewhere meanwhile",
                    at: path.string,
                    remedy: "try again when nobody uses it")
            }
            removed = unsafe vault_rmdir(above.descriptor, level.name)
            if removed != -ENOTEMPTY { current = above }
        }
        if removed == -ENOTEMPTY, level.attempts < Self.patience {
            levels[levels.count - 1].attempts += 1
            return try removeFiles()
        }
        if removed != -ENOENT { try check(removed, .changing, "remove the folder", path) }
        levels.removeLast()
    }

    /// Opens a folder and makes it the owner's to change; nil when it is none (any more), and then gone.
    private static func open(_ name: [CChar], in parent: Int32, path: FilePath) throws(VaultError) -> Folder?
    {
        let flags = VAULT_FOLDER | VAULT_NO_FOLLOW
        var opened = unsafe vault_open(parent, name, flags, 0)
        if opened == -EACCES, unsafe vault_chmod(parent, name, 0o700) == 0 {
            opened = unsafe vault_open(parent, name, flags, 0)
        }
        if opened == -ENOENT { return nil }
        if opened == -ENOTDIR || opened == -ELOOP {
            let removed = unsafe vault_unlink(parent, name)
            if removed != -ENOENT { try check(removed, .changing, "remove", path) }
            return nil
        }
        let folder = Folder(
            takingOwnershipOf: try check(opened, .changing, "remove the folder", path), named: path)
        if try folder.status().permissions & 0o700 != 0o700 {
            // Somebody else's folder can't be changed; then removing says what is wrong.
            _ = vault_fchmod(folder.descriptor, 0o700)
        }
        return folder
    }
}
