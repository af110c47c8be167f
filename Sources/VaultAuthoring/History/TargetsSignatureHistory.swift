import UpdateFramework
import VaultCrypto

/// Whose signatures count for what a vault lists, and counted for what it listed before.
struct TargetsSignatureHistory {
    /// What the signatures of a file count for today.
    enum Standing: Hashable {
        /// The keys that signed it are still named for the targets.
        case current
        /// They were named by this root, and not all of them are by the newest: they may have been stolen.
        case removed(root: Int64)
    }

    private let current: [RoleTrust]
    /// By each root, the newest first.
    private let earlier: [(root: Int64, trust: RoleTrust)]

    /// - Parameter roots: all that there were, the newest last.
    init(under roots: [VerifiedRoot]) {
        let named = Set((roots.last?.trust(in: .targets).keys ?? []).map(\.key))
        earlier = roots.reversed().map { ($0.version, $0.trust(in: .targets)) }
        // A file counts if it was complete under some root, by keys that have stayed.
        current = earlier.map { _, trust in
            RoleTrust(trust.keys.filter { named.contains($0.key) }, threshold: trust.threshold)
        }
    }

    /// Of a team's own part, which has no root.
    init(_ trust: RoleTrust) {
        current = [trust]
        earlier = []
    }

    /// Nil for what nobody has signed whose signature ever counted.
    func standing(of metadata: UnverifiedMetadata) -> Standing? {
        if current.contains(where: { $0.isMet(by: metadata) }) { return .current }
        return earlier.first { $0.trust.isMet(by: metadata) }.map { .removed(root: $0.root) }
    }
}
