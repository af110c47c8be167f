import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite

/// A vault's published site, verified from its trusted root. It may have expired: an expired site must be
/// publishable.
struct CurrentSite {
    /// Nil before anything was published.
    let tree: TargetTree?
    let root: VerifiedRoot
    /// Whether the host has other content under the version that was last published from here: clients of either
    /// accept only a higher version.
    let isReplacement: Bool
    let warnings: [Finding]

    init(of vault: VaultFolder) async throws(VaultError) {
        let metadata = MetadataFolder(vault.metadata)
        let pinned = try vault.pinnedRoot()
        // A site always keeps all its roots, also before its first publication.
        let firstRoot = vault.metadata.appending(MetadataRole.root.hostedName(version: 1))
        guard try FileSystem.exists(firstRoot) else {
            throw VaultError(
                .missing, "the site is not here", at: firstRoot.string,
                remedy: "restore site/ from your host or backup, or go on from what the host has",
                hint: .publishingFromHost)
        }
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
        warnings = try await vault.requireNewest(tree)
    }

    /// A site that was just verified at a host, or published.
    init(_ tree: TargetTree, isReplacement: Bool) {
        self.tree = tree
        root = tree.chain.root
        self.isReplacement = isReplacement
        warnings = []
    }

    /// The roles that a vault signs itself: the top-level targets, and those of all channels.
    static func ownRoles(of tree: TargetTree) -> [VerifiedTargets] {
        [tree.chain.targets] + tree.delegatedRoles.filter { OwnRoles.contains($0.document.role) }
    }

    /// The targets of the vault's own that clients of a channel find; empty for a channel that was never published.
    func ownListing(in channel: Channel) -> OwnListing {
        guard let tree = try? tree?.following(channel) else { return OwnListing(of: []) }
        let records = Self.ownRoles(of: tree).flatMap(\.records)
        return OwnListing(of: records.filter { (try? tree.record(at: $0.path)) == $0 })
    }
}

/// The targets that a vault itself lists.
struct OwnListing {
    let packs: [ListedPack]
    /// Targets that are no packs, or not completely readable; they stay listed.
    let foreign: [TargetRecord]

    var records: [TargetRecord] { foreign + packs.map(\.target) }
    var hasQuietNames: Bool { PackNames.areNeeded(for: packs.map(\.target)) }

    init(of records: [TargetRecord]) {
        var packs: [ListedPack] = []
        var foreign: [TargetRecord] = []
        for record in records {
            // What a newer release published is not changed here.
            if let listing = try? ListedPack(record), listing.isComplete {
                packs.append(listing)
            } else {
                foreign.append(record)
            }
        }
        self.packs = packs
        self.foreign = foreign
    }
}
