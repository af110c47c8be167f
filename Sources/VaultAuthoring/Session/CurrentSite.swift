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
    /// Whether the host replaced what was published from here by another content of the same version: clients of the first
    /// take neither before there is a higher version.
    let isReplacement: Bool

    init(of vault: VaultFolder) async throws(VaultError) {
        let metadata = MetadataFolder(vault.metadata)
        let pinned = try vault.pinnedRoot()
        if try FileSystem.exists(vault.metadata.appending(MetadataRole.timestamp.fileName)) {
            let tree = try await TargetTree.verifying(
                metadata, pinnedRoot: pinned.document.bytes, now: .earliest)
            self.tree = tree
            root = tree.chain.root
        } else {
            tree = nil
            root = pinned
        }
        isReplacement = false
        try vault.requireNewest(tree)
    }

    /// What was verified at a host, or just published.
    init(_ tree: TargetTree, isReplacement: Bool) {
        self.tree = tree
        root = tree.chain.root
        self.isReplacement = isReplacement
    }

    /// The roles that the vault signs itself: the top-level targets and the bins below them. Those of teams, also of a team
    /// that is none any more, never are.
    private var ownRoles: [VerifiedTargets] {
        guard let tree else { return [] }
        return [tree.chain.targets] + tree.delegatedRoles.filter { BinnedListing.isOwn($0.document.role) }
    }

    /// What they list, as far as clients find it there.
    var ownListing: OwnListing {
        OwnListing(of: ownRoles.flatMap(\.records).filter { (try? tree?.record(at: $0.path)) == $0 })
    }
}

/// What one vault lists itself, as it was published last.
struct OwnListing {
    let packs: [PublishedPacks.Listing]
    /// Targets that are no packs of this program; they stay listed.
    let foreign: [TargetRecord]

    init(of records: [TargetRecord]) {
        var packs: [PublishedPacks.Listing] = []
        var foreign: [TargetRecord] = []
        for record in records {
            if let listing = try? PublishedPacks.Listing(record) {
                packs.append(listing)
            } else {
                foreign.append(record)
            }
        }
        self.packs = packs
        self.foreign = foreign
    }
}
