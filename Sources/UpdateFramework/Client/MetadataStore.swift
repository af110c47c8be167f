public import SystemPackage
public import VaultBase
public import VaultCrypto
import VaultFileSystem

/// A folder with the metadata that a client trusts: `root.json`, `timestamp.json`, `snapshot.json`, `targets.json` and
/// delegated roles under their percent-encoded names, all as received, and every root ever trusted here, as
/// `root_history/VERSION.root.json`: the lowest version is the pin. `adopting/` exists while metadata of another store
/// are adopted (``adopt(_:trusting:)``); `earlier/` holds the states before refreshes whose delegated roles were not read again since.
///
/// Files are replaced one by one, each atomically and durably, under a lock, and only after verification against
/// exactly what is stored. So any number of processes may use one store. Stored files are verified again when they are
/// read: the root counts only if signatures lead to it from the pin, one root after the other.
public struct MetadataStore: Sendable {
    public let folder: FilePath
    /// How long to wait for another process's lock.
    public let patience: Duration
    /// Permissions of the folder and its files; see ``init(folder:patience:permissions:)``.
    public let permissions: UInt16

    /// The folder need not exist.
    ///
    /// - Parameter permissions: of a new folder; files get the same without the right to search.
    public init(folder: FilePath, patience: Duration = .seconds(10), permissions: UInt16 = 0o755) {
        self.folder = folder
        self.patience = patience
        self.permissions = permissions
    }

    /// The SHA-256 of the pinned root; nil before that, also while it is being pinned.
    public func pinDigest() throws(VaultError) -> SHA256Digest? {
        guard try FileSystem.exists(folder.appending(MetadataRole.root.fileName)) else { return nil }
        return try storedRoots.firstRoot().map { SHA256.hash($0.span) }
    }

    /// Pins the first root. A store that has one is unchanged, unless nothing was ever verified by it: then it may have
    /// been the wrong one.
    ///
    /// - Parameter root: a root file that the caller trusts, signed by its own keys.
    /// - Throws: `untrusted` for any other file.
    public func pin(_ root: [UInt8]) async throws(VaultError) {
        if try isPinned() { return }
        let verified = try VerifiedRoot(trustedRootFile: root)
        try FileSystem.createFolders(folder, permissions: permissions)
        try await locked { () throws(VaultError) in
            guard try !isPinned() else { return }
            // Another process may have just pinned the same root, and use it.
            if try stored(.root) == root, try storedRoots.firstRoot() == root { return }
            // The history of one root beside another root would count as damage.
            try removeIfStored(.root)
            try storedRoots.clear()
            // The history is written first: a root that is not in it is never trusted. Until the root follows, nothing is pinned.
            try storedRoots.store(root, version: verified.version)
            try write(root, to: MetadataRole.root.fileName)
        }
    }

    /// Whether the store has a root and something verified by it.
    private func isPinned() throws(VaultError) -> Bool {
        guard try stored(.root) != nil else { return false }
        if try stored(.timestamp) != nil { return true }
        return try storedRoots.versions().count > 1
    }

    var earlier: EarlierMetadata { EarlierMetadata(below: folder, permissions: permissions) }

    var storedRoots: StoredRoots { StoredRoots(below: folder, permissions: permissions) }

    func locked<Result>(_ body: () throws(VaultError) -> Result) async throws(VaultError) -> Result {
        let lock = try await FileLock.acquire(
            folder.appending("lock"), .exclusive, patience: patience)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func read(_ name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        try optional(DurableFile.read(folder.appending(name), limit: limit), ignoring: .missing)
    }

    private func write(_ bytes: [UInt8], to name: String) throws(VaultError) {
        try DurableFile.write(
            bytes.span, to: folder.appending(name), permissions: filePermissions, replacing: true)
    }

    private func removeIfStored(_ role: MetadataRole) throws(VaultError) {
        if try stored(role) != nil { try FileSystem.removeFile(folder.appending(role.fileName)) }
    }

    /// Other users may read files if they may read the folder; only the owner may write.
    private var filePermissions: UInt16 { permissions & 0o644 }
}

extension MetadataStore: TrustStorage {
    /// A file of a wrong size counts as missing, except the root.
    func stored(_ role: MetadataRole) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            return try read(role.fileName, limit: role.sizeLimit)
        } catch {
            guard role != .root, error.category == .corrupt else { throw error }
            return nil
        }
    }

    func store(
        _ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot
    ) async throws(VaultError) -> Bool {
        try await locked { () throws(VaultError) in
            guard try stored(.root) == root.bytes, try stored(new.document.role) == old else { return false }
            // The first file that a refresh replaces. Where the earlier ones can't be kept, nothing is replaced.
            if new.document.role == .timestamp, old != nil { try earlier.keep(self, under: root) }
            try write(new)
            return true
        }
    }

    /// Not durable, since a delegated role can be fetched again and is verified against the snapshot: `fsync` for
    /// thousands of files would take long.
    private func write(_ new: some VerifiedMetadata) throws(VaultError) {
        let role = new.document.role
        guard role.topLevel == nil else { return try write(new.bytes, to: role.fileName) }
        let bytes = new.bytes
        try CachedFile.write(bytes.span, to: folder.appending(role.fileName), permissions: filePermissions)
    }

    func store(_ new: VerifiedRoot, after old: VerifiedRoot) async throws(VaultError) -> Bool {
        try await locked { () throws(VaultError) in
            guard try stored(.root) == old.bytes else { return false }
            // By the new root they may verify no more.
            try earlier.keep(self, under: old)
            // From here on this root is used, also by the next process if this one dies.
            try storedRoots.store(new.bytes, version: new.version)
            // Recovery after an attacker with stolen keys raised version numbers (TUF section 5.3.11). It must precede the
            // root: nothing would repeat it afterwards.
            if new.resetsVersions(since: old) {
                for role in [MetadataRole.timestamp, .snapshot] { try removeIfStored(role) }
            }
            try write(new.bytes, to: MetadataRole.root.fileName)
            return true
        }
    }
}

/// Every root that a client ever trusted, as received: `root_history/VERSION.root.json`, as python-tuf stores them. They allow the
/// chain from any earlier root to the present one to be verified again.
struct StoredRoots {
    static let folderName = "root_history"

    let folder: FilePath
    private let permissions: UInt16

    init(below store: FilePath, permissions: UInt16) {
        folder = store.appending(Self.folderName)
        self.permissions = permissions
    }

    /// The stored versions, lowest first.
    func versions() throws(VaultError) -> [Int64] {
        guard try FileSystem.exists(folder) else { return [] }
        return try Folder(opening: folder).names()
            .compactMap { MetadataFileName(hostedName: String(decoding: $0, as: UTF8.self)) }
            .filter { $0.role == .root }.map(\.version).sorted()
    }

    /// The root of one version; nil when it is not stored.
    func root(version: Int64) throws(VaultError) -> [UInt8]? {
        try optional(
            DurableFile.read(path(of: version), limit: MetadataRole.root.sizeLimit), ignoring: .missing)
    }

    /// The pin.
    func firstRoot() throws(VaultError) -> [UInt8]? {
        guard let version = try versions().first else { return nil }
        return try root(version: version)
    }

    func store(_ root: [UInt8], version: Int64) throws(VaultError) {
        try FileSystem.createFolders(folder, permissions: permissions)
        try DurableFile.write(
            root.span, to: path(of: version), permissions: permissions & 0o644, replacing: true)
    }

    /// The paths of all stored roots.
    func files() throws(VaultError) -> [FilePath] { try versions().map(path) }

    func clear() throws(VaultError) {
        for version in try versions() { try FileSystem.removeFile(path(of: version)) }
    }

    func removeAbandonedScratch() throws(VaultError) {
        if try FileSystem.exists(folder) { try Folder(opening: folder).removeAbandonedScratch() }
    }

    func path(of version: Int64) -> FilePath {
        folder.appending(MetadataRole.root.hostedName(version: version))
    }
}

extension MetadataStore {
    /// Bytes of the metadata that were downloaded and count now: the lengths of the files of a verified chain's roles, and of roots
    /// after the pinned one, which came with the program. Other files there do not count, and none by more than it may have.
    public func downloadedBytes(of chain: TrustChain) throws(VaultError) -> UInt64 {
        let roles = [MetadataRole.timestamp, .snapshot, .targets] + chain.snapshot.delegatedRoles
        var files = roles.map { (path: folder.appending($0.fileName), limit: $0.sizeLimit) }
        for version in try storedRoots.versions().dropFirst() where version <= chain.root.version {
            files.append((storedRoots.path(of: version), MetadataRole.root.sizeLimit))
        }
        var sizes: [UInt64] = []
        for (path, limit) in files {
            sizes.append(min(try FileSystem.status(of: path)?.size ?? 0, UInt64(clamping: limit)))
        }
        return sizes.saturatingSum { $0 }
    }
}
