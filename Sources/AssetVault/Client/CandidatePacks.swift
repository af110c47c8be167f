import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// The packs of a site that a selection chooses from: with a tag index only those that have the tags.
struct CandidatePacks {
    private(set) var packs: [ListedPack] = []
    /// Listed packs that this release can't read.
    private(set) var skipped: [SkippedPack] = []
    /// Delegated roles that could not be verified: the packs that they list are unknown.
    private(set) var refusals: [VaultError] = []
    /// Why packs of the selected tags are missing that this release can't read.
    var unreadable: VaultError? { unreadablePacks.error }
    private var unreadablePacks = UnreadablePacks()
    private let tags: Set<String>

    init(
        _ selection: PackSelection, of access: SiteAccess, in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        let lookup = access.lookup(in: listing)
        guard case .tagged(let tags) = selection else {
            tags = []
            add(try await lookup.tree(of: listing.chain), in: listing)
            return
        }
        self.tags = tags
        let chain = listing.chain.hidingTeams(withoutGrantOf: tags)
        if let paths = try await Self.paths(of: tags, lookup, in: listing) {
            try await add(paths, lookup, in: listing)
            // Teams list their packs themselves, without an index.
            add(try await lookup.tree(of: chain.hidingRoles(where: OwnRoles.contains)), in: listing)
        } else {
            add(try await lookup.tree(of: chain), in: listing)
        }
    }

    /// Nil where the site has no index, or one of the tags is not in it: all packs are looked at then.
    private static func paths(
        of tags: Set<String>, _ lookup: TargetLookup, in listing: SiteAccess.Listing
    ) async throws(VaultError) -> Set<String>? {
        var found: Set<String> = []
        for tag in tags.sorted() {
            let roles: [VerifiedTargets]
            do throws(VaultError) {
                roles = try await lookup.rolesVisited(for: TagIndex.path(of: tag), in: listing.chain)
            } catch {
                guard error.category == .untrusted else { throw error }
                return nil
            }
            guard let paths = TagIndex.paths(of: tag, in: roles), !paths.isEmpty else { return nil }
            found.formUnion(paths)
        }
        return found
    }

    private mutating func add(
        _ paths: Set<String>, _ lookup: TargetLookup, in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        for path in paths.sorted() {
            do throws(VaultError) {
                let record = try await lookup.target(at: path, in: listing.chain)
                if let record {
                    add([record], isIndexed: true, in: listing)
                } else {
                    refusals.append(
                        VaultError(
                            .untrusted, "the index of tags names a pack that the site does not list",
                            at: path,
                            remedy: "report it to the publisher"))
                }
            } catch {
                guard error.category == .untrusted else { throw error }
                refusals.append(error)
            }
        }
    }

    private mutating func add(_ tree: TargetTree, in listing: SiteAccess.Listing) {
        refusals += tree.refusals.map(\.error)
        add(
            tags.isEmpty
                ? tree.records : listing.chain.decided(tree.records, withoutGrantOf: tags),
            in: listing)
    }

    private mutating func add(
        _ records: [TargetRecord], isIndexed: Bool = false, in listing: SiteAccess.Listing
    ) {
        let published = PublishedPacks(of: records, in: listing.chain)
        unreadablePacks.add(published, of: tags, isIndexed: isIndexed, listing.names)
        packs += published.packs
        skipped += published.skipped.filter { PackID(targetPath: $0.path) != nil }
            .map { SkippedPack(path: $0.path, reason: $0.reason) }
    }
}
