import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

/// What a vault's site says now, verified from the vault's own trusted root. Expiry does not matter here: an
/// expired site must be publishable again.
struct CurrentSite {
    /// Nil before anything was published.
    let tree: TargetTree?
    let packs: PublishedPacks?
    let root: VerifiedRoot

    init(of vault: VaultFolder, in metadata: MetadataFolder) async throws(VaultError) {
        let pinned = try DurableFile.read(vault.trustedRoot, limit: MetadataRole.root.sizeLimit)
        if try FileSystem.exists(vault.metadata.appending(MetadataRole.timestamp.fileName)) {
            let tree = try await TargetTree.verifying(metadata, pinnedRoot: pinned, now: .earliest)
            self.tree = tree
            packs = PublishedPacks(of: tree)
            root = tree.chain.root
        } else {
            tree = nil
            packs = nil
            root = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: vault.trustedRoot.string))
        }
    }

    /// Targets that are no packs of this program; they stay listed.
    var foreignTargets: [TargetRecord] {
        guard let tree, let packs else { return [] }
        let ours = Set(packs.listings.map(\.target.path))
        return tree.chain.targets.records.filter { !ours.contains($0.path) }
    }
}
