public import SealedPack
public import SystemPackage
public import VaultArchive
public import VaultErrors

/// What an app reads of its packs; see ``VaultStore``, which reads without any site.
extension VaultClient {
    /// The stable path of a loaded pack; see ``VaultStore/path(of:)``.
    public nonisolated func path(of id: PackID) throws(VaultError) -> FilePath {
        try VaultStore(configuration.store).path(of: id)
    }

    /// The bytes of one file of a loaded pack; see ``VaultStore/contents(of:in:keys:)``.
    public nonisolated func contents(of path: EntryPath, in id: PackID) async throws(VaultError) -> [UInt8] {
        try await VaultStore(configuration.store).contents(of: path, in: id, keys: configuration.keys)
    }
}
