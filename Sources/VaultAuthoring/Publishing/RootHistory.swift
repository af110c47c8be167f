import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// All roots of a vault, from the pinned one on, each believed because of the one before it.
struct RootHistory {
    let roots: [VerifiedRoot]

    init(of vault: VaultFolder) throws(VaultError) {
        let folder = MetadataFolder(vault.metadata)
        let limit = MetadataRole.root.sizeLimit
        let pinned = try DurableFile.read(vault.trustedRoot, limit: limit)
        var newest = try VerifiedRoot(
            pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: vault.trustedRoot.string))
        var roots = [newest]
        while case let name = MetadataRole.root.hostedName(version: newest.version + 1),
            let bytes = try folder.file(named: name, limit: limit)
        {
            let next = try UnverifiedMetadata(parsing: bytes, as: .root, place: folder.place(of: name))
            newest = try newest.successor(verifying: next)
            roots.append(newest)
        }
        self.roots = roots
    }
}
