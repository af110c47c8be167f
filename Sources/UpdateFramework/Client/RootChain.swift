import VaultCrypto
import VaultErrors

/// A sequence of roots, each verified by the signatures of its predecessor (TUF section 5.3).
struct RootChain {
    private(set) var newest: VerifiedRoot
    private var digests: [Int64: SHA256Digest]

    /// - Parameter root: the trusted first root of the chain.
    init(from root: VerifiedRoot) {
        newest = root
        digests = [root.version: root.digest]
    }

    /// Whether exactly this root is in the chain, so that signatures lead from it to the newest.
    func contains(_ root: VerifiedRoot) -> Bool { digests[root.version] == root.digest }

    /// Adds the next root. Throws `untrusted` or `corrupt` for anything else.
    mutating func append(_ next: [UInt8]?, at place: String) throws(VaultError) {
        guard let next else {
            throw .malformedMetadata("root version \(newest.version + 1) is missing", at: place)
        }
        newest = try newest.successor(
            verifying: UnverifiedMetadata(parsing: next, as: .root, place: place))
        digests[newest.version] = newest.digest
    }
}
