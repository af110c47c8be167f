public import SealedPack
public import SystemPackage
public import VaultContent
public import VaultErrors

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

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
