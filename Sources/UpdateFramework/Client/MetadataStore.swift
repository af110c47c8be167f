public import SystemPackage
public import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// A folder with the metadata that a client trusts: `root.json`, `timestamp.json`, `snapshot.json`, `targets.json` and
/// delegated roles under their percent-encoded names, all as received, and every root that was ever trusted here, as
/// `root_history/VERSION.root.json`: the first of them is the pin. `adopting/` is there while metadata of another store are
/// taken over (``adopt(_:trusting:)``).
///
/// Files change one by one, each at once and durably, under a lock, and only to what was verified against
/// exactly what is stored. So any number of processes may use one store. Nothing that stands in it is believed without its
/// signatures: the stored root counts only if they lead to it from the pin, one root after the other.
public struct MetadataStore: Sendable {
    public let folder: FilePath
    /// How long to wait for another process that is writing.
    public let patience: Duration
    /// Of the folder and its files; see ``init(folder:patience:permissions:)``.
    let permissions: UInt16

    /// The folder need not exist.
    ///
    /// - Parameter permissions: of a folder that is made; files get the same without the right to search.
    public init(folder: FilePath, patience: Duration = .seconds(10), permissions: UInt16 = 0o755) {
        self.folder = folder
        self.patience = patience
        self.permissions = permissions
    }

    /// The SHA-256 of the root that was pinned first; nil before that.
    public func pin() throws(VaultError) -> SHA256Digest? {
        try storedRoots.firstRoot().map { SHA256.hash($0.span) }
    }

    /// Pins the first root of all; a store that already has one stays as it is, unless nothing was ever verified by that
    /// one: then it was the wrong one, perhaps.
    ///
    /// - Parameter root: a root file that the caller vouches for, signed by its own keys.
    /// - Throws: `untrusted` when it is no such file.
    public func pin(_ root: [UInt8]) async throws(VaultError) {
        if try isPinned() { return }
        let verified = try VerifiedRoot(vouchedFor: root)
        try FileSystem.createFolders(folder, permissions: permissions)
        try await locked { () throws(VaultError) in
            guard try !isPinned() else { return }
            // Another process may have pinned the same one just now, and be at work with it.
            if try kept(.root) == root, try storedRoots.firstRoot() == root { return }
            try storedRoots.clear()
            // The history comes first: a root that it does not hold would never be believed.
            try storedRoots.keep(root, version: verified.version)
            try write(root, to: MetadataRole.root.fileName)
        }
    }

    /// Whether the store has a root, and something that was verified by it.
    private func isPinned() throws(VaultError) -> Bool {
        guard try kept(.root) != nil else { return false }
        if try kept(.timestamp) != nil { return true }
        return try storedRoots.versions().count > 1
    }

    var storedRoots: StoredRoots { StoredRoots(below: folder, permissions: permissions) }

    private func locked<Result>(_ body: () throws(VaultError) -> Result) async throws(VaultError) -> Result {
        let lock = try await FileLock.acquire(
            folder.appending("lock"), .exclusive, patience: patience)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func read(_ name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            return try DurableFile.read(folder.appending(name), limit: limit)
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws(VaultError) {
        try DurableFile.write(
            bytes.span, to: folder.appending(name), permissions: filePermissions, replacing: true)
    }

    /// Others may read a file where they may read the folder; only its owner ever writes it.
    private var filePermissions: UInt16 { permissions & 0o644 }
}

extension MetadataStore: TrustStorage {
    /// A file that is no longer a readable size is as good as none; only the root is missed.
    func kept(_ role: MetadataRole) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            return try read(role.fileName, limit: role.sizeLimit)
        } catch {
            guard role != .root, error.category == .corrupt else { throw error }
            return nil
        }
    }

    func keep(
        _ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot
    ) async throws(VaultError) -> Bool {
        try await locked { () throws(VaultError) in
            guard try kept(.root) == root.bytes, try kept(new.document.role) == old else { return false }
            try write(new)
            return true
        }
    }

    /// A delegated role can be fetched again and is believed only as the snapshot lists it: thousands of them need not
    /// wait for the disk.
    private func write(_ new: some VerifiedMetadata) throws(VaultError) {
        let role = new.document.role
        guard role.topLevel == nil else { return try write(new.bytes, to: role.fileName) }
        let bytes = new.bytes
        try CachedFile.write(bytes.span, to: folder.appending(role.fileName), permissions: filePermissions)
    }

    func keep(_ new: VerifiedRoot, after old: VerifiedRoot) async throws(VaultError) -> Bool {
        try await locked { () throws(VaultError) in
            guard try kept(.root) == old.bytes else { return false }
            // From here on the root is followed, also by the next process where this one dies.
            try storedRoots.keep(new.bytes, version: new.version)
            // Recovery from version numbers that a thief of keys raised (section 5.3.11). It comes before the root: afterwards
            // nobody would know that it was to be done.
            if new.resetsVersions(since: old) {
                for role in [MetadataRole.timestamp, .snapshot] where try kept(role) != nil {
                    try FileSystem.unlink(folder.appending(role.fileName))
                }
            }
            try write(new.bytes, to: MetadataRole.root.fileName)
            return true
        }
    }
}
