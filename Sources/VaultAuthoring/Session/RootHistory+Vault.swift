import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

extension VaultFolder {
    /// The root that the vault's clients pin.
    func pinnedRoot() throws(VaultError) -> VerifiedRoot {
        let bytes = try DurableFile.read(trustedRoot, limit: MetadataRole.root.sizeLimit)
        return try VerifiedRoot(
            pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: trustedRoot.string))
    }
}

extension RootHistory {
    /// All roots of a vault, from the pinned one on.
    init(of vault: VaultFolder) async throws(VaultError) {
        try await self.init(in: MetadataFolder(vault.metadata), from: vault.pinnedRoot())
    }
}
