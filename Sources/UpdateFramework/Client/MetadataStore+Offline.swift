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

extension MetadataStore {
    public var asSource: StoredMetadata { StoredMetadata(folder: folder) }

    /// The trusted metadata as they were kept, verified again from the pin on. Expiry does not count, since nothing new is
    /// believed. Throws `untrusted` or `unavailable` where a refresh was cut off, so that they don't hold together.
    public func storedChain() async throws(VaultError) -> TrustChain {
        let adopted = AdoptedMetadata(below: folder)
        if try adopted.isThere {
            do throws(VaultError) {
                let chain = try await refresh(from: adopted, now: .earliest)
                try? adopted.remove()
                return chain
            } catch {
                // Refreshed from a host since: superseded. Any other error, such as that of a user who may only read, leaves it.
                if error.category == .untrusted { try? adopted.remove() }
            }
        }
        return try await refresh(from: asSource, now: .earliest)
    }

    /// Takes over what another store has, if all of it holds against what is trusted here; else nothing changes. Expiry does
    /// not count. Who dies meanwhile leaves the store as it was, or as it is to be.
    ///
    /// - Parameter trustedRoot: a root file that the caller vouches for. Metadata under an older one are not taken over: that
    ///   one may name keys that were revoked since.
    /// - Throws: `untrusted` for what does not hold, `unavailable` for what is missing.
    public func adopt(_ other: MetadataStore, trusting trustedRoot: [UInt8]? = nil) async throws(VaultError) {
        // Without a root of its own it would trust the other store's.
        guard let root = try kept(.root) else {
            throw VaultError(
                .untrusted, "this store has no root to verify them from", at: other.folder.string,
                remedy: "give the site's root file")
        }
        var files: [MetadataRole: [UInt8]] = [:]
        for role in [MetadataRole.timestamp, .snapshot, .targets] { files[role] = try kept(role) }
        let given = try vouchedFor(trustedRoot)
        // What was verified is what is kept: the other store may change meanwhile.
        let read = RecordingMetadataSource(other.asSource, trusting: given)
        let chain = try await TrustChain.verifying(
            read, pinnedRoot: root, now: .earliest, notBefore: InMemoryTrust(files: files))
        if let given, given.version > chain.root.version {
            throw .untrusted(
                "they are under root version \(chain.root.version), older than the given one",
                at: other.folder.string
            )
        }
        let adopted = AdoptedMetadata(below: folder)
        try adopted.write(read, permissions: permissions)
        _ = try await refresh(from: read, now: .earliest)
        try adopted.remove()
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
