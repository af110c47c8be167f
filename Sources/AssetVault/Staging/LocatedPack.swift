import SealedPack
import VaultTransport

/// A pack as a site lists it now, and where it is hosted.
struct LocatedPack: Sendable {
    let pack: PackManifest
    /// The metadata that list it.
    let listing: ListingVersion
    /// Its mirrors, the best one first; not empty.
    let locations: [SiteLocation]
    /// See ``ListedPack/rank``; 0 where the pack is not one of several.
    var rank = 0

    var ranked: RankedPack { RankedPack(pack: pack, rank: rank) }
}

extension [LocatedPack] {
    var byID: [PackID: LocatedPack] {
        Dictionary(map { ($0.pack.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
