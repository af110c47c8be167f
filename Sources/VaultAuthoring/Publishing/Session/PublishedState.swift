import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The published state of a vault: a site, or the role of a team in another vault's site.
enum PublishedState {
    case site(CurrentSite)
    case teamRole(PublishedTeamRole)

    /// Nil for the role of a team.
    var site: CurrentSite? { if case .site(let site) = self { site } else { nil } }

    /// The packs that the vault itself lists in a channel. A team's role has only one.
    func ownPacks(in channel: Channel) -> OwnPacks {
        switch self {
        case .site(let site): site.ownPacks(in: channel)
        case .teamRole(let published): OwnPacks(of: published.targets?.records ?? [])
        }
    }

    /// The vault keys that packs are never sealed for again.
    func retiredKeys() throws(VaultError) -> RetiredKeys {
        switch self {
        case .site(let site): try RetiredKeys(in: site.tree?.chain.targets.document)
        case .teamRole(let published): try RetiredKeys(in: published.targets?.document)
        }
    }

    /// The version of a pack that any role of the site lists.
    func listedVersion(of id: PackID) -> UInt64? {
        guard let record = try? site?.tree?.record(at: id.targetPath) else { return nil }
        return try? ListedPack(record).pack.version
    }
}

/// A vault's published site, verified from its trusted root. It may have expired: an expired site must be
/// publishable.
struct CurrentSite {
    /// Nil before anything was published.
    let tree: TargetTree?
    let root: VerifiedRoot
    /// Whether the host has other content under the number of the version that was last published from here. Some clients have seen
    /// the one, some the other; both accept only a higher number.
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
                remedy: "restore site/ from your host or backup, or continue from the state of the host",
                hint: .publishingFromHost)
        }
        if try FileSystem.exists(vault.metadata.appending(MetadataRole.timestamp.fileName)) {
            let tree = try await Self.tree(in: metadata, pinnedRoot: pinned)
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
    ///
    /// - Parameter root: a later one than the tree's, which is to be published; nil for that.
    init(_ tree: TargetTree, under root: VerifiedRoot? = nil, isReplacement: Bool) {
        self.tree = tree
        self.root = root ?? tree.chain.root
        self.isReplacement = isReplacement
        warnings = []
    }

    /// Throws `missing` where the file of a role is gone that the vault signs itself, and the refusal of such a file that is wrong.
    /// Without the file the packs of the role would look new, and get numbers that clients have already seen.
    private static func tree(
        in metadata: MetadataFolder, pinnedRoot: VerifiedRoot
    ) async throws(VaultError) -> TargetTree {
        do throws(VaultError) {
            let tree = try await TargetTree.verifying(metadata, pinnedRoot: pinnedRoot, now: .earliest)
            let refused = tree.refusals.first { OwnRoles.contains($0.role) }
            if let refused { throw refused.error }
            return tree
        } catch {
            guard error.category == .unavailable else { throw error }
            throw VaultError(
                .missing, "the site lists it, and it is not here", at: error.place,
                remedy: "bring it back from your host or backup, or go on from what the host has",
                hint: .publishingFromHost)
        }
    }

    /// The roles that a vault signs itself: the top-level targets, and those of all channels.
    static func ownRoles(of tree: TargetTree) -> [VerifiedTargets] {
        tree.targetsRoles.filter(\.document.role.listsOwnPacks)
    }

    /// The targets of the vault's own that clients of a channel find; empty for a channel that was never published.
    func ownPacks(in channel: Channel) -> OwnPacks {
        guard let tree = try? tree?.following(channel) else { return OwnPacks(of: []) }
        let records = Self.ownRoles(of: tree).flatMap(\.records)
        return OwnPacks(of: records.filter { (try? tree.record(at: $0.path)) == $0 })
    }
}

extension MetadataRole {
    /// Whether its packs are a site's own, and not a team's.
    var listsOwnPacks: Bool { self == .targets || OwnRoles.contains(self) }
}

/// The state that a team has published: the metadata of its one role. Another vault's site delegates to that role; the team's own
/// vault has no root.
struct PublishedTeamRole {
    let role: MetadataRole
    let keys: SigningKeys
    /// The team's own key.
    let trust: RoleTrust
    /// The newest metadata that this key has signed.
    let targets: VerifiedTargets?

    init(of role: MetadataRole, in vault: VaultFolder) throws(VaultError) {
        self.role = role
        keys = try SigningKeys(of: vault)
        trust = RoleTrust([MetadataKey(try keys.ownKey(of: role))])
        let folder = MetadataFolder(vault.metadata)
        let versions = try folder.versions().filter { $0.unversionedName == role.fileName }
        for file in versions.sorted(by: { $0.version > $1.version }) {
            let path = folder.path.appending(file.hostedName)
            // A list that is too long for a site can be replaced by a shorter one.
            let bytes = try DurableFile.read(path, limit: role.type.sizeLimit)
            let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: path.string)
            // Metadata of a replaced key is ignored.
            guard trust.isMet(by: metadata) else { continue }
            // Only signatures and format are checked here; the delegating vault decides the paths.
            targets = try VerifiedTargets(
                verifying: metadata, as: Delegation(to: role, of: .paths([]), trust: trust), by: role)
            return
        }
        targets = nil
    }
}

/// The targets that a vault itself lists.
struct OwnPacks {
    let packs: [ListedPack]
    /// Targets that are not packs, or not completely readable; they stay listed.
    let otherTargets: [TargetRecord]

    var records: [TargetRecord] { otherTargets + packs.map(\.target) }
    var packsByID: [PackID: ListedPack] {
        Dictionary(packs.map { ($0.pack.id, $0) }) { first, _ in first }
    }
    var hasOpaqueNames: Bool { PackNames.areNeeded(for: packs.map(\.target)) }

    init(of records: [TargetRecord]) {
        var packs: [ListedPack] = []
        var otherTargets: [TargetRecord] = []
        for record in records {
            // The content of a newer release is not changed.
            if let listing = try? ListedPack(record), listing.isComplete {
                packs.append(listing)
            } else {
                otherTargets.append(record)
            }
        }
        self.packs = packs
        self.otherTargets = otherTargets
    }

    /// The packs of a resource tree alone.
    func packs(of family: PackID) -> OwnPacks {
        OwnPacks(of: packs.filter { $0.pack.offer.family == family }.map(\.target))
    }
}

/// A version that is listed in some channel.
struct ListedVersion {
    let channel: Channel
    let pack: PackManifest
    /// Nil for the vault's own.
    let team: String?
}

extension AuthorSession {
    /// What clients of each channel find: the vault's own packs, and those of teams.
    ///
    /// - Parameter changed: what the vault's own packs of a channel will be.
    func listedVersions(replacing changed: [Channel: [TargetRecord]] = [:]) throws(VaultError)
        -> [ListedVersion]
    {
        let teams = try deliveries()
        return settings.structure.listingChannels.flatMap {
            channel in
            let own = changed[channel].map { OwnPacks(of: $0) } ?? published.ownPacks(in: channel)
            return own.packs.flatMap(\.versions).map {
                ListedVersion(channel: channel, pack: $0, team: nil)
            }
                + teams.flatMap { delivery in
                    delivery.reachablePacks.packs.flatMap(\.versions).map {
                        ListedVersion(channel: channel, pack: $0, team: delivery.team.role.name)
                    }
                }
        }
    }
}
