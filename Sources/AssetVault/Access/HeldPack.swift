public import SealedPack
public import SystemPackage
public import VaultBase

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// One version of a pack: as long as this lives, the version stays where it is, complete, while updates put newer versions beside it.
/// Afterwards, also when the process dies, the next fetch removes a superseded version. Of sealed packs no plaintext is ever written, and
/// only the needed pieces are decrypted.
///
/// Where the file system of permanent storage has no locks, nothing is held (``isEnforced``): reads are never of mixed versions, but may
/// end with `.missing` when an update removed the version.
public struct HeldPack: Sendable {
    let lease: PackLease
    let store: VaultStore

    init(_ lease: PackLease, in store: VaultStore) { (self.lease, self.store) = (lease, store) }

    public var id: PackID { lease.id }
    public var version: UInt64 { lease.version }
    public var form: PackForm { lease.form }
    /// The opened tree's folder, or the sealed pack's file, by its own name: an update never changes what it leads to.
    public var root: FilePath { lease.root }
    /// Whether other processes can't remove the version.
    public var isEnforced: Bool { lease.isEnforced }

    /// The bytes of one file. For large files there is ``reader(_:)``.
    public func bytes(_ path: String) async throws(VaultError) -> [UInt8] {
        try await store.contents(of: EntryPath(path), in: lease)
    }

    /// Reads ranges of one file, in little memory.
    public func reader(_ path: String) async throws(VaultError) -> AssetReader {
        try await store.reader(of: EntryPath(path), in: lease)
    }

    /// A file descriptor to read one file by, at its start, for code that wants an open file; the caller closes it. It stays
    /// readable when the pack is removed. A file of a sealed pack is copied to memory as a whole, sealed against changes and
    /// without a name.
    public func fileDescriptor(_ path: String) async throws(VaultError) -> FileDescriptor {
        try await store.fileDescriptor(of: EntryPath(path), in: lease)
    }

    /// The absolute URL of a file of an opened pack, valid as long as this lives. Throws `.usage` for a sealed pack, `.missing` for an
    /// unknown file.
    public func url(_ path: String) throws(VaultError) -> URL { try url(for: EntryPath(path)) }

    func url(for path: EntryPath) throws(VaultError) -> URL {
        let url = try lease.url(for: path)
        store.reads?.note(path, in: id)
        return url
    }

    /// All files, in the order of their paths' bytes.
    public var files: [PackEntry] {
        get async throws(VaultError) { try await store.entries(in: lease) }
    }
}
