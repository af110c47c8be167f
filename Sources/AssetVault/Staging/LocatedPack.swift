import SealedPack
import VaultKeys
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
    /// The key IDs of the site's own packs: their vault keys, which many packs share, before their content keys.
    var ownKeyIDs: [Set<KeyID>] { lazy.filter { $0.rank == 0 }.map(\.pack).keyIDsByUse }

    var byID: [PackID: LocatedPack] {
        Dictionary(map { ($0.pack.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
