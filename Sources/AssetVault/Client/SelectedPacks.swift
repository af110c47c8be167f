import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// The packs of a selection, as a site lists them now.
struct SelectedPacks {
    /// In the order in which they are wanted.
    let offers: [LocatedPack]
    /// Delegated roles that could not be verified: the packs that they list are unknown.
    let refusals: [VaultError]
    /// Why packs of the selected tags are missing that this release can't read; among the refusals, too.
    let unreadable: VaultError?
    /// Listed packs that this release can't read; empty for `.only`.
    let skipped: [SkippedPack]
    /// The selection; tags are replaced by the IDs of the packs that they chose.
    let selection: PackSelection

    /// Which variants the device gets; nil for `.only`, and where no device decides.
    let variants: VariantChoice?
    /// The traits by which variants of the selection were left out.
    let decidingTraits: [String]

    /// The packs that the variants were chosen among; empty for `.only`.
    let candidateIDs: Set<PackID>
    /// Tags of the selection that no pack of the site has.
    let unknownTags: Set<String>
    /// All tags that were found; complete where one is unknown.
    private let listedTags: Set<String>

    /// Whether the site lists no pack at all to choose from.
    var listsNothing: Bool {
        if case .only = selection { return false }
        return candidateIDs.isEmpty && skipped.isEmpty && refusals.isEmpty
    }

    var replacedIDs: Set<PackID> { Set(variants?.replaced.keys.map(\.self) ?? []) }

    /// Throws `.missing` for a named pack that the site does not list.
    init(
        _ selection: PackSelection, for device: DeviceTraits? = nil, of access: SiteAccess,
        in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        switch selection {
        case .only(let ids): try await self.init(named: ids, of: access, in: listing)
        case .automatic, .all, .tagged:
            // By the names of another listing a tag could miss some of its packs.
            if case .tagged = selection, let missingNames = listing.missingNames { throw missingNames }
            let candidates = try await CandidatePacks(selection, of: access, in: listing)
            try self.init(selection, among: candidates, for: device, of: access, in: listing)
        }
    }

    private init(
        named ids: [PackID], of access: SiteAccess, in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        var offers: [LocatedPack] = []
        for id in ids { offers.append(try await access.offer(of: id, in: listing)) }
        self.offers = offers
        selection = .only(offers.map(\.pack.id))
        (refusals, unreadable, skipped, variants, decidingTraits) = ([], nil, [], nil, [])
        (candidateIDs, unknownTags, listedTags) = ([], [], [])
    }

    private init(
        _ selection: PackSelection, among candidates: CandidatePacks, for device: DeviceTraits?,
        of access: SiteAccess, in listing: SiteAccess.Listing
    ) throws(VaultError) {
        var offers: [LocatedPack] = []
        for listed in candidates.packs {
            if let offer = try access.offer(listed, in: listing) { offers.append(offer) }
        }
        // The table of quiet names is a pack too; an app has already fetched it, so it is not selected again.
        if access.role == .app { offers.removeAll { $0.pack.id.description == PackNames.packID } }
        listedTags = Set(offers.flatMap(\.pack.tags))
        candidateIDs = Set(offers.map(\.pack.id))
        let variants = try device.map { device throws(VaultError) in
            try VariantChoice(
                among: offers.map { VariantChoice.Candidate($0.pack, rank: $0.rank) }, for: device)
        }
        offers = offers.filter { selection.mayTake($0.pack) }
        let replaced = offers.filter { variants?.takes($0.pack.id) == false }
        decidingTraits = Set(replaced.flatMap(\.pack.offer.traits.keys)).sorted()
        offers = offers.filter { variants?.takes($0.pack.id) ?? true }
        offers.sort { $0.ranked < $1.ranked }
        self.offers = offers
        self.variants = variants
        if case .tagged(let tags) = selection {
            unknownTags = tags.subtracting(listedTags).subtracting(
                candidates.packs.flatMap { listed in ([listed.pack] + listed.otherVersions).flatMap(\.tags) })
            self.selection = .only(offers.map(\.pack.id))
        } else {
            unknownTags = []
            self.selection = selection
        }
        unreadable = candidates.unreadable
        refusals = candidates.refusals + [candidates.unreadable].compactMap(\.self)
        skipped = candidates.skipped
    }

    /// Throws `.unknownTag`, or why a role could not be verified: it may list the tag.
    func requireKnownTags() throws(VaultError) {
        if !unknownTags.isEmpty, let refusal = refusals.first { throw refusal }
        try TaggedPacks.requireKnown(unknownTags, among: listedTags)
    }
}
