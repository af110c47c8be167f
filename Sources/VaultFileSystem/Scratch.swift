import CVaultSystem
import Synchronization
public import SystemPackage
public import VaultBase

/// Names of scratch files and folders: hidden, unique, and recognized after a crash.
enum ScratchName {
    private static let prefix = ".assetvault-"
    private static let suffix = ".tmp"

    /// A unique name that can't be predicted.
    static func random(for path: FilePath) throws(VaultError) -> String {
        var words: (UInt64, UInt64) = (0, 0)
        let result = unsafe withUnsafeMutableBytes(of: &words) {
            unsafe vault_random($0.baseAddress, $0.count)
        }
        try check(result, .creating, "get random bytes", path)
        return prefix + String(words.0, radix: 36) + "-" + String(words.1, radix: 36) + suffix
    }

    static func matches(_ name: [UInt8]) -> Bool {
        name.starts(with: prefix.utf8) && name.reversed().starts(with: suffix.utf8.reversed())
    }
}

extension Folder {
    /// Whether an entry has the name of a scratch file or folder.
    public static func isScratch(_ name: [UInt8]) -> Bool { ScratchName.matches(name) }

    /// Removes the scratch files and folders left here by dead processes of this user; those of living ones are locked
    /// and stay. Returns their number.
    ///
    /// Links can't be locked: call this only while no process uses ``replaceLink(_:target:)`` here.
    @discardableResult
    public func removeAbandonedScratch() throws(VaultError) -> Int {
        var removed = 0
        // Others may have filled the folder: its names are not kept.
        try forEachName { (name) throws(VaultError) in
            guard ScratchName.matches(name) else { return }
            // Its creator may remove it first.
            if try optional(removeIfAbandoned(name), ignoring: .missing) == true { removed += 1 }
        }
        return removed
    }

    /// Whether a living process has scratch here.
    public func hasScratchInUse() throws(VaultError) -> Bool {
        for name in try names() where ScratchName.matches(name) {
            switch try status(of: name)?.kind {
            case .file: if let file = try? openFile(name), try !file.tryLock(exclusive: false) { return true }
            case .folder:
                if let folder = try? openFolder(name), try !folder.tryLock(exclusive: false) { return true }
            default: continue
            }
        }
        return false
    }

    private func removeIfAbandoned(_ name: [UInt8]) throws(VaultError) -> Bool {
        guard let status = try status(of: name), status.isOfThisUser else { return false }
        switch status.kind {
        case .file: return try remove(name, ifFree: try openFile(name))
        case .folder: return try remove(name, ifFree: try openFolder(name))
        default:
            try unlink(name)
            return true
        }
    }

    /// Keeps the lock until the name is removed.
    private func remove(_ name: [UInt8], ifFree opened: borrowing some OpenHandle & ~Copyable)
        throws(VaultError) -> Bool
    {
        guard try opened.tryLock(exclusive: true) else { return false }
        try removeTree(name)
        return true
    }
}

/// A temporary name in a folder. Whatever has it is removed when the value is destroyed or the process is terminated by
/// a signal, unless it was committed or kept.
struct ScratchEntry: ~Copyable, Sendable {
    let folder: Folder
    let name: String
    private let key: Key
    private var isReleased: Bool

    init(in folder: consuming Folder) throws(VaultError) {
        let name = try ScratchName.random(for: folder.path)
        let key = Key(folder: folder.descriptor, name: try CheckedName(name, in: folder).characters)
        self = Self(folder: folder, name: name, key: key)
    }

    private init(folder: consuming Folder, name: String, key: Key) {
        self.folder = folder
        self.name = name
        self.key = key
        isReleased = false
        Self.live.withLock { _ = $0.insert(key) }
    }

    /// Creates something under a new name. A concurrent clean-up may remove it before it is locked: then retries.
    static func make<Made: ~Copyable>(
        _ make: () throws(VaultError) -> Made
    ) throws(VaultError) -> Made {
        for _ in 0..<16 {
            do throws(VaultError) {
                return try make()
            } catch {
                guard error.category == .busy else { throw error }
            }
        }
        return try make()
    }

    /// Creates the file or folder, under the mutex: the exit handler finds it, or has ended the process before.
    func create<Made: ~Copyable & Sendable>(
        _ make: (borrowing Folder, String) throws(VaultError) -> Made
    ) throws(VaultError) -> Made {
        try Self.live.withLock { (_) throws(VaultError) -> Made in try make(folder, name) }
    }

    /// Locks the new file or folder, so that it is not treated as abandoned.
    func claim(_ made: borrowing some OpenHandle & ~Copyable) throws(VaultError) {
        // Without support for locks nothing is ever treated as abandoned.
        let isLocked = (try? made.tryLock(exclusive: true)) ?? true
        guard isLocked, let found = try folder.status(of: name), found.isSameFile(as: try made.status())
        else {
            throw VaultError(
                .busy, "a clean-up removed a new file", at: folder.path.string, remedy: "try again")
        }
    }

    /// Renames it to its final path. `folder` is the descriptor of that path's folder.
    mutating func commit(
        as final: CheckedName, in folder: Int32, path: FilePath, replacing: Bool
    ) throws(VaultError) {
        // Under the mutex: nothing is removed during its rename.
        try Self.live.withLock { [key] (live) throws(VaultError) in
            let result = unsafe vaultRename(
                key.folder, key.name, folder, final.characters, replacing: replacing)
            try check(result, .creating, "create", path)
            live.remove(key)
        }
        isReleased = true
    }

    /// Leaves the file or folder in place.
    mutating func keep() {
        forget()
        isReleased = true
    }

    deinit {
        guard !isReleased else { return }
        try? TreeRemoval.remove(key.name, in: key.folder, path: folder.path)
        forget()
    }

    private func forget() {
        Self.live.withLock { [key] in _ = $0.remove(key) }
    }

    // MARK: - All entries of this process

    private struct Key: Hashable {
        /// Open as long as the key is registered.
        let folder: Int32
        let name: [CChar]
    }

    private static let live = Mutex<Set<Key>>([])

    /// Removes all entries and ends the process. The mutex is never released, so that nothing can be committed
    /// meanwhile.
    static func removeAllAndExit(_ status: Int32) {
        live.withLock { live in
            for key in live {
                // Other threads may still write into a folder until it is removed.
                var attempts = 100
                while attempts > 0,
                    (try? TreeRemoval.remove(key.name, in: key.folder, path: "")) == nil
                { attempts -= 1 }
            }
            vault_exit(status)
        }
    }
}

/// A temporary file beside its final path: committed atomically and durably, or removed in all other cases.
public struct ScratchFile: ~Copyable, Sendable {
    /// The file, open for reading and writing; its mode is 0600 until it is committed.
    public let file: OpenFile
    private var entry: ScratchEntry
    private let name: CheckedName
    private let target: FilePath

    /// Throws `.unwritable` when the folder of `target` is missing or can't be written.
    public init(for target: FilePath) throws(VaultError) {
        self = try ScratchEntry.make { () throws(VaultError) in try Self.make(for: target) }
    }

    private static func make(for target: FilePath) throws(VaultError) -> ScratchFile {
        let name = try CheckedName(endOf: target)
        let entry = try ScratchEntry(in: try Folder(holding: target))
        let made = try entry.create { (folder, name) throws(VaultError) in
            try folder.createFile(name, permissions: 0o600)
        }
        try entry.claim(made)
        // Errors show the final path.
        let file = try OpenFile(duplicating: made.descriptor, named: target)
        return ScratchFile(file: file, entry: entry, name: name, target: target)
    }

    private init(
        file: consuming OpenFile, entry: consuming ScratchEntry, name: CheckedName, target: FilePath
    ) {
        self.file = file
        self.entry = entry
        self.name = name
        self.target = target
    }

    /// Saves the content to the disk and gives the file its final name and permissions.
    ///
    /// Without `replacing` an existing target throws `.unwritable`. On any error before the rename the file is removed
    /// and the target is unchanged.
    public consuming func commit(permissions: UInt16, replacing: Bool) throws(VaultError) {
        try commit(as: name, target, permissions: permissions, replacing: replacing)
    }

    /// The same under another name in the same folder, for a name that depends on the content.
    public consuming func commit(as name: String, permissions: UInt16, replacing: Bool) throws(VaultError) {
        let target = target.removingLastComponent().appending(name)
        try commit(as: CheckedName(endOf: target), target, permissions: permissions, replacing: replacing)
    }

    /// Gives the file its final name and permissions without waiting for the disk; replaces an existing file.
    consuming func commitUnsaved(permissions: UInt16) throws(VaultError) {
        try file.setPermissionsOfNew(permissions)
        try entry.commit(as: name, in: entry.folder.descriptor, path: target, replacing: true)
    }

    private mutating func commit(
        as name: CheckedName, _ target: FilePath, permissions: UInt16, replacing: Bool
    ) throws(VaultError) {
        try file.setPermissionsOfNew(permissions)
        try file.synchronize()
        let folder = entry.folder.descriptor
        try entry.commit(as: name, in: folder, path: target, replacing: replacing)
        try entry.folder.synchronize()
    }
}

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
        try folder.synchronizeFileSystem()
        try commitSaved(to: target, permissions: permissions, replacingEmptyFolder: replacingEmptyFolder)
    }

    /// The same for a folder whose content the caller saved.
    public consuming func commitSaved(
        to target: FilePath, permissions: UInt16, replacingEmptyFolder: Bool = false
    ) throws(VaultError) {
        let name = try CheckedName(endOf: target)
        let parent = try Folder(holding: target)
        try folder.setPermissionsOfNew(permissions)
        try folder.synchronize()
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
