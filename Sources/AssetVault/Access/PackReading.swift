public import SealedPack
import Synchronization
public import SystemPackage
public import VaultContent
public import VaultErrors
import VaultFileSystem

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// Reading files of staged packs. Each read sees one version, old or new, whatever updates do meanwhile. Of sealed packs no
/// plaintext is ever written, and only the needed pieces are decrypted.
///
/// All throw `.missing` for an unknown pack or file, `.key` without the key of a sealed pack, `.corrupt` for damage.
extension VaultStore {
    /// The bytes of one file. For large files there is ``reader(of:in:)-(_,PackID)``.
    @concurrent public func contents(of path: EntryPath, in id: PackID) async throws(VaultError) -> [UInt8] {
        try await contents(of: path, in: try await lease(of: id))
    }

    /// The bytes of one file of a version that is held.
    @concurrent public func contents(of path: EntryPath, in lease: PackLease) async throws(VaultError)
        -> [UInt8]
    {
        let reader = try await reader(of: path, in: lease)
        return try await reader.read(0..<reader.size)
    }

    /// Reads ranges of one file, in little memory.
    @concurrent public func reader(of path: EntryPath, in id: PackID) async throws(VaultError) -> AssetReader
    {
        try await reader(of: path, in: try await lease(of: id))
    }

    /// Reads one file of a version that is held.
    @concurrent public func reader(of path: EntryPath, in lease: PackLease) async throws(VaultError)
        -> AssetReader
    {
        noteUse(of: lease)
        switch lease.staged {
        case .tree(let tree):
            let file = try lease.openFile(path, in: tree)
            return AssetReader(path, in: lease, size: try file.status().size, .plain(file))
        case .pack: break
        }
        let pack = try await openPack(of: lease, place: path.string)
        guard let entry = pack.catalog.entry(at: path), entry.kind != .emptyFolder else {
            throw lease.missingFileError(at: path)
        }
        let content = ContentReader(pack, content: entry.content)
        return AssetReader(path, in: lease, size: entry.size, .sealed(pack, entry, content))
    }

    /// The sealed pack of a lease, open. Throws `.key` at `place` where no keys were given.
    func openPack(of lease: PackLease, place: String) async throws(VaultError) -> OpenPack {
        guard let keys else {
            throw VaultError(
                .key, "the pack '\(lease.id)' is kept sealed, and no key was given", at: place,
                remedy: "give a key provider")
        }
        return try await lease.noting { () throws(VaultError) in
            try await openPacks.pack(of: lease, keys: keys)
        }
    }

    /// A file descriptor to read one file by, at its start, for code that wants an open file; the caller closes it. It stays
    /// readable when the pack is removed. A file of a sealed pack is copied to memory as a whole, sealed against changes and
    /// without a name.
    @concurrent public func fileDescriptor(of path: EntryPath, in id: PackID) async throws(VaultError)
        -> FileDescriptor
    {
        try await fileDescriptor(of: path, in: try await lease(of: id))
    }

    /// A file descriptor to read one file of a version that is held by; see ``fileDescriptor(of:in:)-(_,PackID)``.
    @concurrent public func fileDescriptor(of path: EntryPath, in lease: PackLease) async throws(VaultError)
        -> FileDescriptor
    {
        let reader = try await reader(of: path, in: lease)
        switch reader.source {
        case .plain(let file): return try file.duplicated()
        case .sealed(let pack, let entry, _):
            var memory = try SealedMemory(named: FilePath(path.string))
            try await reader.lease.noting { () throws(VaultError) in
                try await pack.read(entry.content) { part throws(VaultError) in try memory.append(part) }
            }
            return try memory.seal()
        }
    }

    /// The URL of a file of an opened pack. It leads to the same bytes as long as the store object lives, which holds each version
    /// that it gave URLs for; a program that runs for long uses a ``PackLease`` and ``PackLease/url(for:)``. Throws `.usage` for a sealed pack.
    @concurrent public func url(for path: EntryPath, in id: PackID) async throws(VaultError) -> URL {
        let lease = try await lease(of: id)
        let url = try lease.url(for: path)
        shown.withLock { $0[lease.root] = $0[lease.root] ?? lease }
        return url
    }
}

/// Reads fetched packs with the client's keys, as ``VaultStore`` does: offline, and while a fetch runs.
extension VaultClient {
    /// All packs that the store knows, in order of their IDs.
    public nonisolated func status() async throws(VaultError) -> [PackStatus] {
        try await store.status()
    }

    /// The stable path of a loaded pack; see ``VaultStore/path(of:)``.
    public nonisolated func path(of id: PackID) throws(VaultError) -> FilePath {
        try store.path(of: id)
    }

    /// The live version of a pack, kept as it is; see ``VaultStore/lease(of:)``.
    public nonisolated func lease(of id: PackID) async throws(VaultError) -> PackLease {
        try await store.lease(of: id)
    }

    /// All files of a pack; see ``VaultStore/entries(in:)-(PackID)``.
    public nonisolated func entries(in id: PackID) async throws(VaultError) -> [PackEntry] {
        try await store.entries(in: id)
    }

    /// The bytes of one file; see ``VaultStore/contents(of:in:)-(_,PackID)``.
    public nonisolated func contents(of path: EntryPath, in id: PackID) async throws(VaultError) -> [UInt8] {
        try await store.contents(of: path, in: id)
    }

    /// Reads ranges of one file; see ``VaultStore/reader(of:in:)-(_,PackID)``.
    public nonisolated func reader(of path: EntryPath, in id: PackID) async throws(VaultError) -> AssetReader
    {
        try await store.reader(of: path, in: id)
    }

    /// A file descriptor, which the caller closes; see ``VaultStore/fileDescriptor(of:in:)-(_,PackID)``.
    public nonisolated func fileDescriptor(of path: EntryPath, in id: PackID) async throws(VaultError)
        -> FileDescriptor
    {
        try await store.fileDescriptor(of: path, in: id)
    }

    /// Where a file of an opened pack is, as long as the client lives; see ``VaultStore/url(for:in:)``.
    public nonisolated func url(for path: EntryPath, in id: PackID) async throws(VaultError) -> URL {
        try await store.url(for: path, in: id)
    }
}
