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
        try await held(id).contents(of: path)
    }

    /// Reads ranges of one file, in little memory.
    @concurrent public func reader(of path: EntryPath, in id: PackID) async throws(VaultError) -> AssetReader
    {
        try await held(id).reader(of: path)
    }

    /// A file descriptor to read one file by; see ``HeldPack/fileDescriptor(_:)``.
    @concurrent public func fileDescriptor(of path: EntryPath, in id: PackID) async throws(VaultError)
        -> FileDescriptor
    {
        try await held(id).fileDescriptor(of: path)
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
