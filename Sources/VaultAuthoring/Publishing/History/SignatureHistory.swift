import UpdateFramework
import VaultBase

/// The keys that may sign the metadata of one top-level role, now and under earlier roots.
struct SignatureHistory {
    /// Whether the signers of a file are still named.
    enum Standing: Hashable {
        /// By keys that the newest root names for the role.
        case current
        /// By keys of this root that the newest does not name: they may have been stolen.
        case removed(root: Int64)
    }

    private let current: [RoleTrust]
    /// By each root, the newest first.
    private let earlier: [(root: Int64, trust: RoleTrust)]

    /// - Parameter roots: all of them, the newest last.
    init(of role: TopLevelRole, under roots: [VerifiedRoot]) {
        let named = Set((roots.last?.trust(in: role).keys ?? []).map(\.key))
        earlier = roots.reversed().map { ($0.version, $0.trust(in: role)) }
        // A file counts if the remaining keys of some root meet its threshold.
        current = earlier.map { _, trust in
            RoleTrust(trust.keys.filter { named.contains($0.key) }, threshold: trust.threshold)
        }
    }

    init(_ trust: RoleTrust) { (current, earlier) = ([trust], []) }

    /// Nil for a file that no accepted key has signed.
    func standing(of metadata: UnverifiedMetadata) -> Standing? {
        if current.contains(where: { $0.isMet(by: metadata) }) { return .current }
        return earlier.first { $0.trust.isMet(by: metadata) }.map { .removed(root: $0.root) }
    }

    /// The same of metadata that were verified under one of the roots.
    func standing(of metadata: some VerifiedMetadata, at place: String) throws(VaultError) -> Standing? {
        let document = metadata.document
        return standing(
            of: try UnverifiedMetadata(parsing: document.bytes, as: document.role, place: place))
    }
}
