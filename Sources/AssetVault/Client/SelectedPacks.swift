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

    var replacedIDs: Set<PackID> { Set(variants?.replaced.keys.map(\.self) ?? []) }

    /// Throws `.missing` for a named pack that the site does not list.
    init(
        _ selection: PackSelection, for device: DeviceTraits? = nil, of access: SiteAccess,
        in listing: SiteAccess.Listing
    ) async throws(VaultError) {
        var offers: [OfferedPack] = []
        guard case .only(let ids) = selection else {
            let tree = try await access.trust.tree(of: listing.chain, from: listing.site, now: listing.now)
            refusals = tree.refusals.map(\.error)
            let published = PublishedPacks(of: tree)
            let variants = device.map {
                VariantChoice(among: published.packs.map { ($0.pack.id, $0.pack.offer) }, for: $0)
            }
            for published in published.packs
            where selection.mayTake(published.pack) && variants?.takes(published.pack.id) ?? true {
                offers.append(try access.offer(published, in: listing))
            }
            offers.sort { ($0.pack.offer.order, $0.pack.id) < ($1.pack.offer.order, $1.pack.id) }
            self.variants = variants
            skipped = published.skipped.filter { PackID(targetPath: $0.path) != nil }
                .map { SkippedPack(path: $0.path, reason: $0.reason) }
            self.offers = offers
            if case .tagged = selection {
                self.selection = .only(offers.map(\.pack.id))
            } else {
                self.selection = selection
            }
            return
        }
        for id in ids { offers.append(try await access.offer(of: id, in: listing)) }
        self.offers = offers
        (refusals, skipped, variants) = ([], [], nil)
        self.selection = selection
    }
}
