internal import CVaultSystem
internal import Synchronization
internal import SystemPackage
internal import VaultErrors

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
