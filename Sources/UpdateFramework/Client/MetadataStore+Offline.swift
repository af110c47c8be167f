import Synchronization
public import SystemPackage
public import VaultErrors
import VaultFileSystem

/// A client's stored metadata as a source, under the names that a host gives them. It is trusted as little as a host.
public struct StoredMetadata: MetadataSource {
    let folder: FilePath

    public func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let fileName = MetadataVersion(hostedName: name)?.fileName ?? name
        let path =
            fileName == MetadataRole.root.fileName
            ? folder.appending(StoredRoots.folderName).appending(name) : folder.appending(fileName)
        do throws(VaultError) {
            return try DurableFile.read(path, limit: limit)
        } catch {
            guard error.category == .missing else { throw error }
            return nil
        }
    }

    public func place(of name: String) -> String { folder.appending(name).string }
}

/// A source that is asked once for each file.
private final class ReadMetadata: MetadataSource {
    private let source: StoredMetadata
    private let files = Mutex<[String: [UInt8]?]>([:])

    init(_ source: StoredMetadata) { self.source = source }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let known = files.withLock({ $0[name] }) { return known }
        let bytes = try await source.metadata(named: name, limit: limit)
        files.withLock { $0[name] = .some(bytes) }
        return bytes
    }

    func place(of name: String) -> String { source.place(of: name) }
}

extension MetadataStore {
    public var asSource: StoredMetadata { StoredMetadata(folder: folder) }

    /// The trusted metadata as they were kept, verified again from the pin on. Expiry does not count, since nothing new is
    /// believed. Throws `untrusted` or `unavailable` where a refresh was cut off, so that they don't hold together.
    public func storedChain() async throws(VaultError) -> TrustChain {
        try await refresh(from: asSource, now: .earliest)
    }

    /// Takes over what another store has, if all of it holds against what is trusted here; else nothing changes. Expiry does
    /// not count.
    ///
    /// - Throws: `untrusted` for what does not hold, `unavailable` for what is missing.
    public func adopt(_ other: MetadataStore) async throws(VaultError) {
        var files: [MetadataRole: [UInt8]] = [:]
        for role in [MetadataRole.timestamp, .snapshot, .targets] { files[role] = try kept(role) }
        // What was verified is what is kept: the other store may change meanwhile.
        let read = ReadMetadata(other.asSource)
        _ = try await TrustChain.verifying(
            read, pinnedRoot: kept(.root), now: .earliest, notBefore: TransientTrust(files: files))
        _ = try await refresh(from: read, now: .earliest)
    }

    /// The versions of the root and the snapshot that are stored; nil before the first refresh. They are not verified again.
    public func storedVersions() throws(VaultError) -> (root: Int64, snapshot: Int64)? {
        guard let root = try kept(.root), let snapshot = try kept(.snapshot) else { return nil }
        return (
            try UnverifiedMetadata(parsing: root, as: .root, place: "root.json").document.version,
            try UnverifiedMetadata(parsing: snapshot, as: .snapshot, place: "snapshot.json").document.version
        )
    }

    /// The root that was pinned first, if its file and the folders around it are acceptable; nil where there is none.
    public func firstRoot(where isAcceptable: (FilePath) -> Bool) throws(VaultError) -> [UInt8]? {
        guard let root = try storedRoots.firstRoot() else { return nil }
        let places = [folder, storedRoots.folder] + (try storedRoots.files())
        return places.allSatisfy(isAcceptable) ? root : nil
    }

    /// The folders that metadata are written to.
    public var folders: [FilePath] { [folder, storedRoots.folder] }

    /// Removes what programs that died were writing.
    public func removeAbandonedScratch() throws(VaultError) {
        guard try FileSystem.exists(folder) else { return }
        try Folder(opening: folder).removeAbandonedScratch()
        try storedRoots.removeAbandonedScratch()
    }
}
