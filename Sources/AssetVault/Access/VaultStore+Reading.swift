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
        switch lease.staged {
        case .tree(let tree): return try AssetReader(path, in: lease, try lease.openFile(path, in: tree))
        case .pack: break
        }
        return try AssetReader(path, in: lease, try await openPack(of: lease, toRead: path.string))
    }

    func openPack(of lease: PackLease, toRead place: String) async throws(VaultError) -> OpenPack {
        guard let keys else {
            throw VaultError(
                .key, "the pack '\(lease.id)' is kept sealed, and no key was given", at: place,
                remedy: "give a key provider")
        }
        return try await openPacks.pack(of: lease, keys: keys)
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
            try await pack.read(entry.content) { part throws(VaultError) in try memory.append(part) }
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
