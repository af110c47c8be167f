import SystemPackage
import VaultErrors
import VaultFileSystem

/// The two roles that use a store. Each keeps its decisions in an area of its own, so that one may run as another user, or in
/// a sandbox, without being able to decide for the other.
enum StoreRole: Sendable, CaseIterable {
    /// Opens packs and keeps them ready for use. It alone writes permanent storage, and verifies the signatures and digests of
    /// everything else.
    case app
    /// Downloads packs to shared storage, without any key. It reads the app's decisions, and writes none.
    case downloader

    var other: StoreRole { self == .app ? .downloader : .app }
}

/// A store as one role works on it: its files, its records and its locks.
struct StoreAccess: Sendable {
    let layout: StoreLayout
    let role: StoreRole
    /// How long to wait for another process to release the store.
    var patience = Duration.seconds(30)

    var records: PackRecords { PackRecords(layout: layout, role: role) }
    var journal: PackJournal { PackJournal(store: self) }
    var recovery: StoreRecovery { StoreRecovery(store: self) }
    var removal: PackRemoval { PackRemoval(store: self) }
    var transfer: AreaTransfer { AreaTransfer(store: self) }
    var inventory: StoreInventory { StoreInventory(store: self) }

    /// Runs `body` while no other task or process changes the store: for transitions, not for transfers. Throws `.busy`
    /// after `patience`.
    func withLock<Result>(_ body: () throws(VaultError) -> Result) async throws(VaultError) -> Result {
        let lock = try await lock()
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// The same for a transition that names a file which was written before.
    func withLock<File: ~Copyable, Result>(
        _ file: consuming File, _ body: (consuming File) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        let lock = try await lock()
        defer { withExtendedLifetime(lock) {} }
        return try body(file)
    }

    private func lock() async throws(VaultError) -> StoreLock {
        try layout.makeShared(layout.shared)
        let permissions = try layout.permissions(of: role)
        try FileSystem.createFolders(layout.area(of: role), permissions: permissions.folders)
        let paths = layout.locks(of: role)
        // The app's own lock excludes other apps: what is in the place of the shared one must not keep it out.
        if role == .app, let shared = paths.last, !isLockFile(shared) { try FileSystem.discard(shared) }
        return try await acquire(paths)
    }

    /// Whether a file can be a lock: an absent one, or a regular file that this user can open.
    private func isLockFile(_ path: FilePath) -> Bool {
        guard let found = try? FileSystem.status(of: path) else { return true }
        return found.kind == .file && (try? EphemeralName.lockableFile(path)) != nil
    }

    private func acquire(_ paths: [FilePath]) async throws(VaultError) -> StoreLock {
        let shared = try AreaPermissions(of: layout.shared).files
        let sharedLocks = layout.locks(of: .downloader)
        return try await StoreLock.acquire(
            paths, permissions: { sharedLocks.contains($0) ? shared : 0o600 }, patience: patience)
    }
}
