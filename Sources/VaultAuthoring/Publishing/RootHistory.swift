import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

extension RootHistory {
    /// All roots of a vault, from the pinned one on.
    init(of vault: VaultFolder) throws(VaultError) {
        let pinned = try DurableFile.read(vault.trustedRoot, limit: MetadataRole.root.sizeLimit)
        let first = try VerifiedRoot(
            pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: vault.trustedRoot.string))
        try self.init(in: MetadataFolder(vault.metadata), from: first)
    }
}
