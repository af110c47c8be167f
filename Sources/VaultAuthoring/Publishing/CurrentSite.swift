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
    let root: VerifiedRoot

    init(of vault: VaultFolder) async throws(VaultError) {
        let metadata = MetadataFolder(vault.metadata)
        let pinned = try DurableFile.read(vault.trustedRoot, limit: MetadataRole.root.sizeLimit)
        if try FileSystem.exists(vault.metadata.appending(MetadataRole.timestamp.fileName)) {
            let tree = try await TargetTree.verifying(metadata, pinnedRoot: pinned, now: .earliest)
            self.tree = tree
            root = tree.chain.root
        } else {
            tree = nil
            root = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: pinned, as: .root, place: vault.trustedRoot.string))
        }
        try vault.requireNewest(tree)
    }

    /// The roles that the vault signs itself: the top-level targets and the bins below them.
    func ownRoles(_ structure: SiteStructure) -> [VerifiedTargets] {
        guard let tree else { return [] }
        let teams = Set(structure.teams.map(\.role))
        return [tree.chain.targets] + tree.delegatedRoles.filter { !teams.contains($0.document.role) }
    }
}

/// What one vault lists itself, as it was published last.
struct OwnListing {
    let packs: [PublishedPacks.Listing]
    /// Targets that are no packs of this program; they stay listed.
    let foreign: [TargetRecord]

    init(_ roles: [VerifiedTargets]) {
        let published = roles.map { PublishedPacks(of: $0) }
        packs = published.flatMap(\.listings)
        let ours = Set(packs.map { Array($0.target.path.utf8) })
        foreign = roles.flatMap(\.records).filter { !ours.contains(Array($0.path.utf8)) }
    }
}
