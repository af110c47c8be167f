import SealedPack
public import VaultContent
public import VaultErrors
import VaultFileSystem

/// Reads ranges of a file of a staged pack. Holds the pack's version (``PackLease``) as long as it lives. Many tasks may read
/// at once.
///
/// Of a sealed pack every byte is verified before it is returned. Besides the result, a few pieces are in memory; the last one
/// is kept, so that sequential reads decrypt each piece once.
public final class AssetReader: Sendable {
    public let path: EntryPath
    /// Bytes of the file.
    public let size: UInt64
    public let lease: PackLease
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
