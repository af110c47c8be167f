public import SealedPack
import Synchronization
public import SystemPackage
public import VaultBase
import VaultFileSystem

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// Reading files of staged packs. Each read sees one version, old or new, whatever updates do meanwhile; files that belong together are
/// read from a ``HeldPack``.
///
/// All throw `.missing` for an unknown pack or file, `.key` without the key of a sealed pack, `.corrupt` for damage.
extension VaultStore {
    /// The bytes of one file. For large files there is ``reader(of:in:)``.
    @concurrent public func contents(of path: EntryPath, in id: PackID) async throws(VaultError) -> [UInt8] {
        try await contents(of: path, in: held(id).lease)
    }

    /// Reads ranges of one file, in little memory.
    @concurrent public func reader(of path: EntryPath, in id: PackID) async throws(VaultError) -> AssetReader
    {
        try await reader(of: path, in: held(id).lease)
    }

    /// A file descriptor to read one file by; see ``HeldPack/fileDescriptor(_:)``.
    @concurrent public func fileDescriptor(of path: EntryPath, in id: PackID) async throws(VaultError)
        -> FileDescriptor
    {
        try await fileDescriptor(of: path, in: held(id).lease)
    }

    /// The URL of a file of an opened pack. It leads to the same bytes as long as the store object lives, which holds each version
    /// that it gave URLs for; a program that runs for long uses ``HeldPack/url(_:)``. Throws `.usage` for a sealed pack.
    @concurrent public func url(for path: EntryPath, in id: PackID) async throws(VaultError) -> URL {
        let pack = try await held(id)
        let url = try pack.url(for: path)
        leasesOfURLs.withLock { $0[pack.root] = $0[pack.root] ?? pack.lease }
        return url
    }

    /// All files of a pack, in the order of their paths' bytes. A sealed pack needs its key for that.
    @concurrent public func entries(in id: PackID) async throws(VaultError) -> [PackEntry] {
        try await held(id).files
    }
}

// The lease is a parameter: of a lease that a structure holds, a switch over its version would keep a reference for good (Swift 6.3).
extension VaultStore {
    @concurrent func contents(of path: EntryPath, in lease: PackLease) async throws(VaultError) -> [UInt8] {
        let reader = try await reader(of: path, in: lease)
        return try await reader.read(0..<reader.size)
    }

    @concurrent func reader(of path: EntryPath, in lease: PackLease) async throws(VaultError) -> AssetReader {
        noteUse(of: lease)
        switch lease.staged {
        case .tree(let tree):
            let file = try lease.openFile(path, in: tree)
            reads?.note(path, in: lease.id)
            return AssetReader(path, in: lease, size: try file.status().size, .plain(file))
        case .pack: break
        }
        let pack = try await openPack(of: lease, place: path.string)
        guard let entry = pack.catalog.entry(at: path), entry.kind != .emptyFolder else {
            throw lease.missingFileError(at: path)
        }
        reads?.note(path, in: lease.id)
        let content = ContentReader(pack, content: entry.content)
        return AssetReader(path, in: lease, size: entry.size, .sealed(pack, entry, content))
    }

    @concurrent func fileDescriptor(of path: EntryPath, in lease: PackLease) async throws(VaultError)
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

    @concurrent func entries(in lease: PackLease) async throws(VaultError) -> [PackEntry] {
        switch lease.staged {
        case .tree(let tree):
            var found: [PackEntry] = []
            // Links are not followed: an attacker may have put one into the tree.
            try tree.forEachEntry { path, status throws(VaultError) in
                switch status.kind {
                case .file: found.append(PackEntry(path: try EntryPath(path), size: status.size))
                case .folder: break
                case .link, .pipe, .socket, .device:
                    throw lease.plantedFileError(at: lease.root.appending(path))
                }
            }
            return found.sorted { $0.path.utf8Bytes.lexicographicallyPrecedes($1.path.utf8Bytes) }
        case .pack: return try await openPack(of: lease, place: lease.id.description).catalog.files
        }
    }

    /// The sealed pack of a lease, open. Throws `.key` at `place` where no keys were given.
    func openPack(of lease: PackLease, place: String) async throws(VaultError) -> OpenPack {
        guard let keys else {
            throw VaultError(
                .key, "the pack '\(lease.id)' is kept sealed, and no key was given", at: place,
                remedy: "give its key", hint: .givingKey)
        }
        return try await lease.noting { () throws(VaultError) in
            try await openPacks.pack(of: lease, keys: keys)
        }
    }
}

/// A file of a staged pack. Empty folders are not listed.
public struct PackEntry: Sendable, Hashable {
    public let path: EntryPath
    /// The size of the file in bytes.
    public let size: UInt64
}

/// Reads ranges of a file of a staged pack. Holds the pack's version as long as it lives. Many tasks may read at once.
///
/// Of a sealed pack every byte is verified before it is returned. Besides the result, a few pieces are in memory; the last one
/// is kept, so that sequential reads decrypt each piece once.
public final class AssetReader: Sendable {
    public let path: EntryPath
    /// Bytes of the file.
    public let size: UInt64
    let lease: PackLease
    let source: Source

    enum Source: ~Copyable, Sendable {
        case plain(OpenFile)
        case sealed(OpenPack, Catalog.Entry, ContentReader)
    }

    init(_ path: EntryPath, in lease: PackLease, size: UInt64, _ source: consuming Source) {
        self.path = path
        self.lease = lease
        self.size = size
        self.source = source
    }

    /// The bytes of `range`: all of them, or an error. Throws `.usage` for a range beyond the file, `.corrupt`.
    @concurrent public func read(_ range: Range<UInt64>) async throws(VaultError) -> [UInt8] {
        guard range.upperBound <= size, let count = Int(exactly: range.upperBound - range.lowerBound) else {
            throw VaultError(
                .usage, "the file has \(size) bytes, not \(range.upperBound)", at: path.string,
                remedy: "ask for less")
        }
        switch source {
        case .plain(let file):
            do throws(VaultError) { return try file.readExactly(count, at: range.lowerBound) } catch {
                // In the tree's fingerprint are the times of its files.
                if error.isMetInBytes { file.touch() }
                throw error
            }
        case .sealed(_, _, let content):
            return try await lease.noting { () throws(VaultError) in try await content.read(range) }
        }
    }
}
