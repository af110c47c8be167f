import UpdateFramework

/// Which metadata listed a pack: of two, the one under the newer root is newer, and under one root that of the higher
/// snapshot version, which every change of a listing raises. (A thief of keys may have raised the
/// snapshot version; the root that replaces the keys ends that.)
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
