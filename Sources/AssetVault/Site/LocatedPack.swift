import SealedPack
import UpdateFramework
import VaultCrypto
import VaultTransport

/// A pack as a site lists it, and where it is hosted.
struct LocatedPack: Sendable {
    let pack: PackManifest
    /// The metadata that list it.
    let listing: ListingVersion
    /// Its mirrors, the best one first; none if the listing was read from the store.
    let locations: [SiteLocation]
    /// See ``ListedPack/rank``; 0 where the pack is not one of several.
    var rank = 0

    /// Whether it comes before another pack in the site's list: the site's own packs, then those of each team, within these in ascending
    /// order.
    func precedes(_ other: LocatedPack) -> Bool {
        (rank, pack.offer.order, pack.id) < (other.rank, other.pack.offer.order, other.pack.id)
    }
}

extension [LocatedPack] {
    /// The key IDs of the site's own packs: their vault keys, which many packs share, before their content keys.
    var ownKeyIDs: [Set<KeyID>] { lazy.filter { $0.rank == 0 }.map(\.pack).keyIDsByUse }

    var byID: [PackID: LocatedPack] {
        Dictionary(map { ($0.pack.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The metadata that listed a pack: of two, the one under the newer root is newer, and under one root that of the higher snapshot
/// version, which every change of a listing raises. (A thief of keys may have raised the snapshot version; the root that replaces
/// the keys ends that.)
struct ListingVersion: Comparable, Sendable {
    var root: Int64 = 0
    var snapshot: Int64 = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.root, left.snapshot) < (right.root, right.snapshot)
    }
}

extension ListingVersion {
    init(_ chain: TrustChain) {
        self.init(root: chain.root.version, snapshot: chain.snapshot.version)
    }
}
