public import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: those that a client fetches without being asked.
    case automatic
    case all
    case only([PackID])
    /// Packs with any of these tags, as if each were named.
    case tagged(Set<String>)

    /// When it is wanted where nobody says so.
    var priority: LoadingPriority {
        if case .automatic = self { .whenIdle } else { .standard }
    }

    fileprivate func mayTake(_ pack: PackManifest) -> Bool {
        guard case .tagged(let tags) = self else { return true }
        return pack.tags.contains(where: tags.contains)
    }
}

/// A listed pack that this release can't read, such as one of a later format.
public struct SkippedPack: Sendable, Hashable {
    /// Among the site's targets.
    public let path: String
    public let reason: String
}

/// The packs of a selection, as a site lists them now.
struct SelectedPacks {
    /// In the order in which they are wanted.
    let offers: [OfferedPack]
    /// Delegated roles that could not be verified: the packs that they list are unknown.
    let refusals: [VaultError]
    /// Listed packs that this release can't read; empty where packs are named.
    let skipped: [SkippedPack]
    /// With the IDs of what was chosen otherwise.
    let selection: PackSelection

    /// Which variants the device gets; nil where packs are named, or no device is given.
    let variants: VariantChoice?

    /// The packs that the variants were chosen among.
    let seenIDs: Set<PackID>
    /// Tags of the selection that no pack of the site has.
    let unknownTags: Set<String>

    var replacedIDs: Set<PackID> { Set(variants?.replaced.keys.map(\.self) ?? []) }

    /// Throws `.missing` for a named pack that the site does not list.
    init(
        _ selection: PackSelection, for device: DeviceTraits? = nil, of access: SiteAccess,
        in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        guard case .only(let ids) = selection else {
            let seen = try await SeenPacks(selection, of: access, in: listing)
            var offers: [OfferedPack] = []
            for listed in seen.packs {
                if let offer = try access.offer(listed, in: listing) { offers.append(offer) }
            }
            // An app opens the table of quiet names before it selects.
            if access.role == .app { offers.removeAll { $0.pack.id.description == PackNames.packID } }
            let seenTags = Set(offers.flatMap(\.pack.tags))
            let seenOffers = Set(offers.map(\.pack.id))
            let variants = device.map {
                VariantChoice(among: offers.map { ($0.pack.id, $0.pack.offer) }, for: $0)
            }
            offers = offers.filter { selection.mayTake($0.pack) && variants?.takes($0.pack.id) ?? true }
            offers.sort { ($0.pack.offer.order, $0.pack.id) < ($1.pack.offer.order, $1.pack.id) }
            self.offers = offers
            self.variants = variants
            seenIDs = seenOffers
            if case .tagged(let tags) = selection {
                unknownTags = tags.subtracting(seenTags).subtracting(
                    seen.packs.flatMap { listed in ([listed.pack] + listed.others).flatMap(\.tags) })
            } else {
                unknownTags = []
            }
            refusals = seen.refusals
            skipped = seen.skipped
            if case .tagged = selection {
                self.selection = .only(offers.map(\.pack.id))
            } else {
                self.selection = selection
            }
            return
        }
        var offers: [OfferedPack] = []
        for id in ids { offers.append(try await access.offer(of: id, in: listing)) }
        self.offers = offers
        let selection = PackSelection.only(offers.map(\.pack.id))
        (refusals, skipped, variants) = ([], [], nil)
        (seenIDs, unknownTags) = ([], [])
        self.selection = selection
    }
}
