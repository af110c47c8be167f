import SealedPack

/// A listed pack in the order of the site's list: its own packs, then those of each team, within these in ascending order.
struct RankedPack: Comparable, Sendable {
    let pack: PackManifest
    /// See ``ListedPack/rank``.
    let rank: Int

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.pack.offer.order, left.pack.id) < (right.rank, right.pack.offer.order, right.pack.id)
    }
}
