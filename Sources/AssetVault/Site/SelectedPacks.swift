public import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: those that a client fetches without being asked.
    case automatic
    case all
    case only([PackID])
    /// Packs with any of these tags, wanted as much as if named.
    case tagged(Set<String>)

    /// The priority of the selection when the caller gives none.
    var priority: LoadingPriority {
        if case .automatic = self { .whenIdle } else { .standard }
    }
}

/// A listed pack that this release can't read, such as one of a later format.
public struct SkippedPack: Sendable, Hashable {
    /// Its path among the site's targets.
    public let path: String
    public let reason: String
}

/// The packs of a selection that a device gets, by one view of the site.
struct SelectedPacks {
    /// In the order in which they are wanted.
    private(set) var offers: [LocatedPack]
    /// Delegated roles that could not be verified, as the packs that they list are unknown; then ``unreadable``.
    private(set) var refusals: [VaultError] = []
    /// Why a pack of the selected tags is missing that only a newer release can read: a request without it would be answered in part.
    private(set) var unreadable: VaultError?
    /// Whether all roles could be read that may list packs of the selection.
    private(set) var isComplete = true
    /// Listed packs that this release can't read; empty for `.only`.
    private(set) var skipped: [SkippedPack] = []
    /// The selection; tags are replaced by the IDs of the packs that they chose.
    private(set) var selection: PackSelection

    /// The variants that the device gets; nil for `.only`.
    private(set) var variants: VariantChoice?
    /// The traits by which variants of the selection were left out.
    private(set) var decidingTraits: [String] = []

    /// The packs that the variants were chosen among; empty for `.only`.
    private(set) var candidateIDs: Set<PackID> = []
    /// Tags of the selection that no pack of the site has, for whichever version of the app.
    private(set) var unknownTags: Set<String> = []
    /// All tags that were found; complete where one is unknown.
    private var listedTags: Set<String> = []

    /// Whether the site lists no pack at all to choose from.
    var listsNothing: Bool {
        if case .only = selection { return false }
        return candidateIDs.isEmpty && skipped.isEmpty && refusals.isEmpty
    }

    var replacedIDs: Set<PackID> { Set(variants?.replaced.keys.map(\.self) ?? []) }

    /// Throws `.unknownTag` with the nearest name, or why a role could not be verified: it may list the tag.
    func requireKnownTags() throws(VaultError) {
        guard let tag = unknownTags.min() else { return }
        if let refusal = refusals.first { throw refusal }
        throw VaultError(
            .unknownTag, "no pack of the site has the tag '\(tag.excerpt)'", at: "tags",
            remedy: "check its spelling, or publish it; 'path' takes the ID of a pack"
        ).suggesting(tag, among: listedTags.sorted())
    }

    fileprivate init(named offers: [LocatedPack]) {
        self.offers = offers
        selection = .only(offers.map(\.pack.id))
    }

    /// The same, and other packs as if they were named.
    func adding(_ others: [LocatedPack]) -> SelectedPacks {
        guard !others.isEmpty else { return self }
        var all = self
        all.offers = (offers + others).sorted { $0.precedes($1) }
        all.selection = .only(all.offers.map(\.pack.id))
        return all
    }

    fileprivate init(
        _ selection: PackSelection, among candidates: CandidatePacks, for device: DeviceTraits,
        in view: SiteView
    ) throws(VaultError) {
        var offers: [LocatedPack] = []
        for listed in candidates.packs {
            if let offer = try view.located(listed) { offers.append(offer) }
        }
        // The table of opaque names is a pack too; an app has already fetched it, so it is not selected again.
        if view.role == .app { offers.removeAll { $0.pack.id.description == PackNames.packID } }
        listedTags = Set(offers.flatMap(\.pack.tags))
        candidateIDs = Set(offers.map(\.pack.id))
        let variants = try VariantChoice(
            among: offers.map { VariantChoice.Candidate($0.pack, rank: $0.rank) }, for: device)
        if case .tagged(let tags) = selection {
            offers.removeAll { !$0.pack.tags.contains(where: tags.contains) }
        }
        decidingTraits = Set(offers.filter { !variants.takes($0.pack.id) }.flatMap(\.pack.offer.traits.keys))
            .sorted()
        offers.removeAll { !variants.takes($0.pack.id) }
        offers.sort { $0.precedes($1) }
        self.offers = offers
        self.variants = variants
        if case .tagged(let tags) = selection {
            let tagsOfAllVersions = candidates.packs.flatMap { listed in
                ([listed.pack] + listed.otherVersions).flatMap(\.tags)
            }
            unknownTags = tags.subtracting(listedTags).subtracting(tagsOfAllVersions)
            self.selection = .only(offers.map(\.pack.id))
        } else {
            unknownTags = []
            self.selection = selection
        }
        unreadable = candidates.unreadable
        refusals = candidates.refusals + [candidates.unreadable].compactMap(\.self)
        isComplete = candidates.refusals.isEmpty
        skipped = candidates.skipped
    }
}

extension SiteView {
    /// The packs of a selection. Throws `.missing` for a named pack that the site does not list for this app.
    ///
    /// - Parameter device: nil for the one that the app named.
    func select(
        _ selection: PackSelection, for device: DeviceTraits? = nil
    ) async throws(VaultError) -> SelectedPacks {
        if case .only(let ids) = selection {
            var offers: [LocatedPack] = []
            for id in ids { offers.append(try await pack(withID: id)) }
            return SelectedPacks(named: offers)
        }
        // By the names of another state of the site a tag could miss some of its packs.
        if case .tagged = selection, let missingNames { throw missingNames }
        return try SelectedPacks(
            selection, among: try await CandidatePacks(selection, in: self), for: device ?? self.device,
            in: self)
    }
}

extension SiteView {
    /// The other packs of which another version is loaded, and that share a tag with some packs which are loaded now, also through others.
    func updates(
        belongingTo packs: [PackManifest], in records: PackRecords
    ) async throws(VaultError) -> [LocatedPack] {
        var known = Set(packs.map(\.id))
        guard missingNames == nil, try records.ids().contains(where: { !known.contains($0) }) else {
            return []
        }
        var others: [LocatedPack] = []
        var next = Set(
            packs.filter { records.loadedDigest(of: $0.id) != $0.sha256 }.flatMap(\.tags))
        var looked: Set<String> = []
        while !next.isEmpty {
            looked.formUnion(next)
            let offers = try await select(.tagged(next)).offers.filter { records.isUpdate($0.pack) }
            next = []
            for offer in offers where known.insert(offer.pack.id).inserted {
                others.append(offer)
                next.formUnion(offer.pack.tags.filter { !looked.contains($0) })
            }
        }
        return others
    }
}

/// The packs of a site that a selection chooses from: with a tag index only those that have the tags.
private struct CandidatePacks {
    private(set) var packs: [ListedPack] = []
    /// Listed packs that this release can't read.
    private(set) var skipped: [SkippedPack] = []
    /// Delegated roles that could not be verified: the packs that they list are unknown.
    private(set) var refusals: [VaultError] = []
    /// The first pack of the selected tags that only a newer release can read.
    private(set) var unreadable: VaultError?
    private let tags: Set<String>
    private let view: SiteView

    init(_ selection: PackSelection, in view: SiteView) async throws(VaultError) {
        self.view = view
        guard case .tagged(let tags) = selection else {
            tags = []
            add(try await view.lookup.tree(of: view.chain))
            return
        }
        self.tags = tags
        let chain = view.chain.hidingTeams(withoutGrantOf: tags)
        if let paths = try await indexedPaths() {
            try await add(paths)
            // Teams list their packs themselves, without an index.
            add(try await view.lookup.tree(of: chain.hidingRoles(where: OwnRoles.contains)))
        } else {
            add(try await view.lookup.tree(of: chain))
        }
    }

    /// The paths of the site's own packs with the tags. Nil where the site has no index, or one of the tags is not in it: all packs
    /// are looked at then.
    private func indexedPaths() async throws(VaultError) -> Set<String>? {
        // An index has no opaque names.
        guard view.hasOpaqueNames == false else { return nil }
        var found: Set<String> = []
        for tag in tags.sorted() {
            let roles: [VerifiedTargets]
            do throws(VaultError) {
                roles = try await view.lookup.rolesVisited(for: TagIndex.path(of: tag), in: view.chain)
            } catch {
                guard error.category == .untrusted else { throw error }
                return nil
            }
            guard let paths = TagIndex.paths(of: tag, in: roles), !paths.isEmpty else { return nil }
            found.formUnion(paths)
        }
        return found
    }

    private mutating func add(_ paths: Set<String>) async throws(VaultError) {
        for path in paths.sorted() {
            do throws(VaultError) {
                guard let record = try await view.lookup.target(at: path, in: view.chain) else {
                    throw VaultError(
                        .untrusted, "the index of tags names a pack that the site does not list", at: path,
                        remedy: "report it to the publisher")
                }
                add([record], isIndexed: true)
            } catch {
                guard error.category == .untrusted else { throw error }
                refusals.append(error)
            }
        }
    }

    private mutating func add(_ tree: TargetTree) {
        refusals += tree.refusals.map(\.error)
        add(tags.isEmpty ? tree.records : view.chain.decided(tree.records, withoutGrantOf: tags))
    }

    /// - Parameter isIndexed: whether the site's index says that they have one of the tags.
    private mutating func add(_ records: [TargetRecord], isIndexed: Bool = false) {
        let published = PublishedPacks(of: records, in: view.chain)
        packs += published.packs
        for pack in published.skipped {
            guard let id = PackID(targetPath: pack.path) else { continue }
            skipped.append(SkippedPack(path: pack.path, reason: pack.reason))
            let known = view.names?[listed: id]?.offer.tags ?? pack.tags
            guard unreadable == nil, pack.needsNewerRelease, isIndexed || known.contains(where: tags.contains)
            else { continue }
            unreadable = .unsupportedFormat("it has a requested tag, and \(pack.reason)", at: pack.path)
        }
    }
}
