import Synchronization
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// A client's stored metadata as a source, under the names that a host uses. Like a host, it is not trusted.
public struct StoredMetadata: MetadataSource {
    let folder: FilePath

    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let fileName = MetadataFileName(hostedName: name)?.unversionedName ?? name
        let path =
            fileName == MetadataRole.root.fileName
            ? folder.appending(StoredRoots.folderName).appending(name) : folder.appending(fileName)
        return try optional(DurableFile.read(path, limit: limit), ignoring: .missing)
    }

    public func place(of name: String) -> String { folder.appending(name).string }
}

extension MetadataStore {
    public var asSource: StoredMetadata { StoredMetadata(folder: folder) }

    /// The stored metadata, verified again from the pinned root on; those before a refresh that has not ended, or never will. Expiry
    /// is ignored, since nothing new is trusted. Throws `untrusted` or `unavailable` where they are damaged or missing.
    public func storedChain() async throws(VaultError) -> TrustChain {
        let adopted = AdoptedMetadata(below: folder)
        if try adopted.exists {
            do throws(VaultError) {
                let chain = try await refresh(from: adopted, now: .earliest)
                try? adopted.remove()
                return chain
            } catch {
                // Superseded by a refresh from a host. Any other error, such as missing write permission, keeps it.
                if error.category == .untrusted { try? adopted.remove() }
            }
        }
        do throws(VaultError) { return try await update(from: asSource, now: .earliest) } catch {
            if error.category == .busy, let pin = try storedRoots.firstRoot() {
                // A process that has the lock, and may be stopped, has not stored a root that it verified.
                return try await TrustChain.verifying(
                    asSource, pinnedRoot: VerifiedRoot(trustedRootFile: pin), now: .earliest)
            }
            guard let chain = try? await firstEarlierState({ $0.chain }) else { throw error }
            return chain
        }
    }

    /// Adopts the metadata of another store, if all of it verifies against what is trusted here; else nothing changes.
    /// Expiry is ignored. A process that dies meanwhile leaves the store either unchanged or complete.
    ///
    /// - Parameter trustedRoot: a root file that the caller trusts. Metadata under an older root are refused, as it may
    ///   name keys that were revoked since.
    /// - Throws: `untrusted` for what does not verify, `unavailable` for what is missing.
    public func adopt(_ other: MetadataStore, trusting trustedRoot: [UInt8]? = nil) async throws(VaultError) {
        // Without its own root it would trust the other store's.
        guard let root = try stored(.root) else { throw noRoot(for: other) }
        var files: [MetadataRole: [UInt8]] = [:]
        for role in [MetadataRole.timestamp, .snapshot, .targets] { files[role] = try stored(role) }
        let given = try verifiedRoot(trustedRoot)
        // Stores the verified bytes, as the other store may change meanwhile.
        let read = RecordingMetadataSource(other.asSource, trusting: given)
        let chain = try await TrustChain.verifying(
            read, pinnedRoot: VerifiedRoot(trustedRootFile: root), now: .earliest,
            notBefore: InitialTrust(files: files))
        try require(chain, of: other, notBefore: given)
        let adopted = AdoptedMetadata(below: folder)
        try adopted.write(read, permissions: permissions)
        _ = try await refresh(from: read, now: .earliest)
        try adopted.remove()
    }

    /// The chain of another store's metadata, verified as ``adopt(_:trusting:)`` does; nothing is stored.
    ///
    /// - Parameter trustedRoot: trusted where this store has no root yet.
    public func state(
        of other: MetadataStore, trusting trustedRoot: [UInt8]?
    ) async throws(VaultError) -> EarlierState {
        guard let root = try stored(.root) ?? trustedRoot else { throw noRoot(for: other) }
        var files: [MetadataRole: [UInt8]] = [:]
        for role in [MetadataRole.timestamp, .snapshot] { files[role] = try stored(role) }
        let source = other.asSource
        let chain = try await TrustChain.verifying(
            source, pinnedRoot: VerifiedRoot(trustedRootFile: root), now: .earliest,
            notBefore: InitialTrust(files: files))
        try require(chain, of: other, notBefore: verifiedRoot(trustedRoot))
        let workflow = TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest)
        return EarlierState(chain: chain, lookup: TargetLookup(workflow))
    }

    private func noRoot(for other: MetadataStore) -> VaultError {
        VaultError(
            .untrusted, "this store has no trusted root to verify the metadata", at: other.folder.string,
            remedy: "give the site's root file")
    }

    private func require(
        _ chain: TrustChain, of other: MetadataStore, notBefore given: VerifiedRoot?
    ) throws(VaultError) {
        guard let given, given.version > chain.root.version else { return }
        throw .malformedMetadata(
            "the metadata's root version \(chain.root.version) is older than the given root",
            at: other.folder.string)
    }

    /// The versions of the stored root and snapshot, not verified again; nil before the first refresh.
    public func storedVersions() throws(VaultError) -> (root: Int64, snapshot: Int64)? {
        guard let root = try stored(.root), let snapshot = try stored(.snapshot) else { return nil }
        return (
            try UnverifiedMetadata(parsing: root, as: .root, place: "root.json").document.version,
            try UnverifiedMetadata(parsing: snapshot, as: .snapshot, place: "snapshot.json").document.version
        )
    }

    /// The pinned root; nil when there is none, or when its file or a folder around it is not acceptable.
    public func pinnedRoot(ifAllPathsSatisfy isAcceptable: (FilePath) -> Bool) throws(VaultError) -> [UInt8]?
    {
        guard let root = try storedRoots.firstRoot() else { return nil }
        let paths = [folder, storedRoots.folder] + (try storedRoots.files())
        return paths.allSatisfy(isAcceptable) ? root : nil
    }

    /// The folders that the store writes to.
    public var folders: [FilePath] { [folder, storedRoots.folder] }

    /// Removes the scratch of dead processes.
    public func removeAbandonedScratch() throws(VaultError) {
        guard try FileSystem.exists(folder) else { return }
        try Folder(opening: folder).removeAbandonedScratch()
        try storedRoots.removeAbandonedScratch()
    }
}

/// A source that reads each file once, and a trusted root not at all.
final class RecordingMetadataSource: MetadataSource {
    private let source: any MetadataSource
    private let files: Mutex<[String: [UInt8]?]>

    init(_ source: any MetadataSource, trusting root: VerifiedRoot?) {
        self.source = source
        var files: [String: [UInt8]?] = [:]
        if let root { files[MetadataRole.root.hostedName(version: root.version)] = .some(root.bytes) }
        self.files = Mutex(files)
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let known = files.withLock({ $0[name] }) { return known }
        let bytes = try await source.metadata(named: name, limit: limit)
        files.withLock { $0[name] = .some(bytes) }
        return bytes
    }

    func place(of name: String) -> String { source.place(of: name) }

    /// The files that were read, by name.
    var found: [(name: String, bytes: [UInt8])] {
        files.withLock { files in files.compactMap { name, bytes in bytes.map { (name, $0) } } }
    }
}

/// Verified metadata of another store while they are adopted: a folder `adopting` with all files under their hosted
/// names. It appears atomically, so another process can complete the adoption when this one dies.
struct AdoptedMetadata: MetadataSource {
    private let folder: FilePath

    init(below store: FilePath) { folder = store.appending("adopting") }

    var exists: Bool {
        get throws(VaultError) { try FileSystem.exists(folder) }
    }

    func write(_ read: RecordingMetadataSource, permissions: UInt16) throws(VaultError) {
        let scratch = try ScratchFolder(beside: folder)
        for (name, bytes) in read.found {
            let file = try scratch.folder.createFile(name, permissions: permissions & 0o644)
            try file.write(bytes.span, at: 0)
        }
        // Replaces the folder of a dead process or of a concurrent one, which can finish without it.
        try remove()
        try scratch.commit(to: folder, permissions: permissions)
    }

    func remove() throws(VaultError) {
        guard let name = folder.lastComponent?.string, try exists else { return }
        try Folder(opening: folder.removingLastComponent()).discardTree(name)
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        try optional(DurableFile.read(folder.appending(name), limit: limit), ignoring: .missing)
    }

    func place(of name: String) -> String { folder.appending(name).string }
}
