import UpdateFramework

/// Which metadata listed a pack: of two, the one under the newer root is newer, and under one root that of the higher
/// targets version. (A thief of keys may have raised the targets version; the root that replaces the keys ends that.)
struct ListingVersion: Comparable, Sendable {
    var root: Int64 = 0
    var targets: Int64 = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.root, left.targets) < (right.root, right.targets)
    }
}

extension ListingVersion {
    init(_ chain: TrustChain) {
        self.init(root: chain.root.version, targets: chain.targets.version)
    }
}
