import SealedPack
import VaultErrors
import VaultSite

/// Gives packs the IDs and offers that a site lists: as declared, or keyed digests and nothing else.
struct QuietNames {
    /// Nil where names are public.
    private let key: ContentKey?
    /// All packs that got an ID.
    private(set) var names = PackNames()

    init(key: ContentKey?) { self.key = key }

    var areQuiet: Bool { key != nil }

    /// An ID has a digest for the resource tree, if there is one, and one for the pack. The lengths of names don't show.
    func listedID(of id: PackID, family: PackID?) throws(VaultError) -> PackID {
        guard key != nil else { return id }
        guard let family else { return try digest(of: id) }
        return try PackID("\(digest(of: family))/\(digest(of: id))")
    }

    private func digest(of id: PackID) throws(VaultError) -> PackID {
        try PackID("q\(key?.quietName(of: id.description) ?? "")")
    }

    func listedFamily(_ family: PackID) throws(VaultError) -> PackID {
        key == nil ? family : try digest(of: family)
    }

    /// The ID and the offer that are listed; the declared ones go into the map.
    mutating func conceal(_ id: PackID, _ offer: PackOffer) throws(VaultError) -> (PackID, PackOffer) {
        guard key != nil else { return (id, offer) }
        let listed = try listedID(of: id, family: offer.family)
        names.add(PackNames.Entry(name: id, offer: offer), listedAs: listed)
        let family = try offer.family.map { family throws(VaultError) in try listedFamily(family) }
        return (listed, PackOffer(policy: .onDemand, family: family, apps: offer.apps))
    }
}
