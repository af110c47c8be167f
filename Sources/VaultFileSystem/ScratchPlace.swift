internal import CVaultSystem
internal import Synchronization
internal import SystemPackage
internal import VaultErrors

/// A name for something that is not final yet. Whatever stands there is removed when the value is destroyed
/// or the process is told to end, unless it was settled.
struct ScratchPlace: ~Copyable, Sendable {
    let folder: Folder
    let name: String
    private let entry: Entry
    private var isSettled: Bool

    init(in folder: consuming Folder) throws(VaultError) {
        let name = try ScratchName.random(for: folder.path)
        let entry = Entry(folder: folder.descriptor, name: try CheckedName(name, in: folder).characters)
        self = Self(folder: folder, name: name, entry: entry)
    }

    private init(folder: consuming Folder, name: String, entry: Entry) {
        self.folder = folder
        self.name = name
        self.entry = entry
        isSettled = false
        Self.live.withLock { _ = $0.insert(entry) }
    }

    /// Makes something under a fresh name. A clean-up may take it away before it is locked: then once more.
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

    /// Makes what stands here. Under the lock: a clean-up finds it, or has ended the process before.
    func create<Made: ~Copyable & Sendable>(
        _ make: (borrowing Folder, String) throws(VaultError) -> Made
    ) throws(VaultError) -> Made {
        try Self.live.withLock { (_) throws(VaultError) -> Made in try make(folder, name) }
    }

    /// Locks what was made here, so that it isn't taken for abandoned.
    func claim(_ made: borrowing some OpenHandle & ~Copyable) throws(VaultError) {
        // Where there are no locks, nothing is ever taken for abandoned.
        let isLocked = (try? made.tryLock(exclusive: true)) ?? true
        guard isLocked, let found = try folder.status(of: name), found.isSameFile(as: try made.status())
        else {
            throw VaultError(
                .busy, "a clean-up took a new file away", at: folder.path.string, remedy: "try again")
        }
    }

    /// Gives what was made here its final path. `folder` is the descriptor of that path's folder.
    mutating func settle(
        as final: CheckedName, in folder: Int32, path: FilePath, replacing: Bool
    ) throws(VaultError) {
        // Under the lock: nothing is removed halfway through becoming final.
        try Self.live.withLock { [entry] (live) throws(VaultError) in
            let result = unsafe vaultRename(
                entry.folder, entry.name, folder, final.characters, replacing: replacing)
            try check(result, .creating, "create", path)
            live.remove(entry)
        }
        isSettled = true
    }

    /// Leaves what was made here where it is.
    mutating func keep() {
        forget()
        isSettled = true
    }

    deinit {
        guard !isSettled else { return }
        try? TreeRemoval.remove(entry.name, in: entry.folder, path: folder.path)
        forget()
    }

    private func forget() {
        Self.live.withLock { [entry] in _ = $0.remove(entry) }
    }

    // MARK: - All of this process

    private struct Entry: Hashable {
        /// Open as long as the entry is live.
        let folder: Int32
        let name: [CChar]
    }

    private static let live = Mutex<Set<Entry>>([])

    /// Removes everything and ends the process. The lock is never given back: whoever wants to settle
    /// something waits until the end.
    static func removeAllAndExit(_ status: Int32) {
        live.withLock { live in
            for entry in live {
                // Others may still be writing into a folder: once it is gone, they can't.
                var attempts = 100
                while attempts > 0,
                    (try? TreeRemoval.remove(entry.name, in: entry.folder, path: "")) == nil
                { attempts -= 1 }
            }
            vault_exit(status)
        }
    }
}
