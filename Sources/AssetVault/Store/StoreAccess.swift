import Synchronization
import SystemPackage
import UpdateFramework
import VaultBase
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

    /// See ``PackRecords/names``.
    var names: StoredNames?

    var records: PackRecords { PackRecords(layout: layout, role: role, names: names) }
    var journal: PackJournal { PackJournal(store: self) }
    var unfinishedWork: UnfinishedWork { UnfinishedWork(store: self) }
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
        if role == .app, let shared = paths.last, try !isLockFile(shared) { try FileSystem.discard(shared) }
        let lock = try await acquire(paths)
        // Of a process that died meanwhile. Where that fails now, such as on a full disk, readers follow the file.
        if role == .app { try? VersionSwitch.complete(in: layout) }
        return lock
    }

    /// Whether a file can be a lock: an absent one, or a regular file that this user can open.
    private func isLockFile(_ path: FilePath) throws(VaultError) -> Bool {
        guard let found = try? FileSystem.status(of: path) else { return true }
        guard found.kind == .file else { return false }
        return try usable(EphemeralName.lockableFile(path)) != nil
    }

    private func acquire(_ paths: [FilePath]) async throws(VaultError) -> StoreLock {
        let shared = try AreaPermissions(of: layout.shared).files
        let sharedLocks = layout.locks(of: .downloader)
        return try await StoreLock.acquire(
            paths, permissions: { sharedLocks.contains($0) ? shared : 0o600 }, patience: patience)
    }
}

/// Where the app and the downloader each keep the metadata that they trust. To the app, a downloader's metadata are those of one
/// more host: they count when they pass verification against what the app verified before.
extension StoreAccess {
    /// The metadata that the role trusts.
    var metadata: MetadataStore { metadata(of: role) }

    func metadata(of role: StoreRole) -> MetadataStore {
        let permissions = try? layout.permissions(of: role)
        return MetadataStore(
            folder: layout.trust(of: role), permissions: (permissions ?? .permanent).folders)
    }

    /// The role's metadata, read without the network and without waiting for their lock, whose holder may be stopped.
    var readableMetadata: MetadataStore {
        let metadata = metadata
        return MetadataStore(
            folder: metadata.folder, patience: .zero, permissions: metadata.permissions)
    }

    /// Makes the area in which the role's metadata are kept.
    func prepareMetadata() throws(VaultError) {
        try FileSystem.createFolders(layout.area(of: role), permissions: layout.permissions(of: role).folders)
    }

    /// A downloader that has no root yet takes the app's. An app takes the downloader's only if no other user can have written
    /// it. That loses nothing: this user could replace the app's own root too. Otherwise the app must be given a root.
    func adoptPin() async throws(VaultError) {
        guard try metadata.pinDigest() == nil else { return }
        let root: [UInt8]?
        switch role {
        case .downloader: root = try metadata(of: .app).pinnedRoot { _ in true }
        case .app:
            guard isOnlyOurs(layout.shared) else { return }
            root = try metadata(of: .downloader).pinnedRoot { isOnlyOurs($0) }
        }
        if let root { try await metadata.pin(root) }
    }

    /// Adopts the metadata that a downloader refreshed since, without the network. Expiry does not count: it ends trust in a host,
    /// and packs preloaded before a game's launch must open on launch day, even if the metadata expired since. All of it passes
    /// verification, or none is kept.
    ///
    /// - Parameter trustedRoot: metadata under an older root than this one stay out.
    func adoptMetadata(trusting trustedRoot: [UInt8]?) async throws(VaultError) {
        guard role == .app, try FileSystem.exists(layout.trust(of: .downloader)) else { return }
        try await metadata.adopt(metadata(of: .downloader), trusting: trustedRoot)
    }

    /// What a downloader's metadata say, as ``adoptPin()`` and ``adoptMetadata(trusting:)`` would take them; nothing is stored.
    func broughtState(trusting trustedRoot: [UInt8]?) async throws(VaultError) -> EarlierState {
        let brought = metadata(of: .downloader)
        var root = trustedRoot
        if root == nil, isOnlyOurs(layout.shared) { root = try brought.pinnedRoot { isOnlyOurs($0) } }
        return try await metadata.state(of: brought, trusting: root)
    }

    /// Whether only this user can have written there.
    private func isOnlyOurs(_ path: FilePath) -> Bool {
        guard let status = try? FileSystem.status(of: path) else { return false }
        return status.isOfThisUser && status.permissions & 0o022 == 0
    }
}

/// The locks of a store, held until the value is gone. Tasks of one process wait for each other in memory; other processes
/// are kept out by locks on the store's files.
final class StoreLock: Sendable {
    private let files: Mutex<Files>
    private let tasks: AsyncSemaphore

    private struct Files: ~Copyable {
        var first: FileLock?
        var second: FileLock?
    }

    /// Throws `.busy` when another process does not release the store within `patience`.
    ///
    /// - Parameter paths: at most two, always locked in this order.
    static func acquire(
        _ paths: [FilePath], permissions: (FilePath) -> UInt16, patience: Duration
    ) async throws(VaultError) -> StoreLock {
        let place = paths.first ?? ""
        let tasks = all.withLock { all in
            let tasks = all[place] ?? AsyncSemaphore(1)
            all[place] = tasks
            return tasks
        }
        try await tasks.acquire(for: place.string)
        do throws(VaultError) {
            var files = Files()
            if !paths.isEmpty {
                files.first = try await FileLock.acquire(
                    place, .exclusive, patience: patience, permissions: permissions(place))
            }
            if paths.count > 1 {
                files.second = try await FileLock.acquire(
                    paths[1], .exclusive, patience: patience, permissions: permissions(paths[1]))
            }
            return StoreLock(files: files, tasks: tasks)
        } catch {
            tasks.release()
            throw error
        }
    }

    private init(files: consuming Files, tasks: AsyncSemaphore) {
        self.files = Mutex(files)
        self.tasks = tasks
    }

    deinit {
        // The files first: the next task finds them free.
        files.withLock { $0 = Files() }
        tasks.release()
    }

    /// One for each store that this process has used.
    private static let all = Mutex<[FilePath: AsyncSemaphore]>([:])
}
