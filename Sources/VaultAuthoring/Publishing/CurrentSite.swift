import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

/// What a vault's site says now, verified from the vault's own trusted root. Expiry does not matter here: an
/// expired site must be publishable again.
struct CurrentSite {
    /// Nil before anything was published.
    let chain: TrustChain?
    let packs: PublishedPacks?
    let root: VerifiedRoot

    init(of vault: VaultFolder, in metadata: MetadataFolder) async throws(VaultError) {
        let pinned = try DurableFile.read(vault.trustedRoot, limit: TopLevelRole.root.sizeLimit)
        if try FileSystem.exists(vault.metadata.appending(TopLevelRole.timestamp.fileName)) {
            let chain = try await TrustChain.verifying(metadata, pinnedRoot: pinned, now: .earliest)
            self.chain = chain
            packs = PublishedPacks(of: chain)
            root = chain.root
        } else {
            chain = nil
            packs = nil
            root = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: vault.trustedRoot.string))
        }
    }

    /// Targets that are no packs of this program; they stay listed.
    var foreignTargets: [TargetRecord] {
        guard let chain, let packs else { return [] }
        let ours = Set(packs.listings.map(\.target.path))
        return chain.targets.records.filter { !ours.contains($0.path) }
    }
}
