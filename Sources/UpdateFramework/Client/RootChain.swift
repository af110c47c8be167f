import VaultCrypto
import VaultErrors

/// Roots one after the other, each verified by the signatures of the one before it (section 5.3).
struct RootChain {
    private(set) var newest: VerifiedRoot
    private var digests: [Int64: SHA256Digest]

    /// - Parameter root: what the chain begins with, believed because somebody vouches for it.
    init(from root: VerifiedRoot) {
        newest = root
        digests = [root.version: root.digest]
    }

    /// Whether this very root is one of the chain: then its signatures lead to the newest.
    func contains(_ root: VerifiedRoot) -> Bool { digests[root.version] == root.digest }

    /// Adds the next root. Throws `untrusted` or `corrupt` for whatever is not exactly that.
    mutating func append(_ next: [UInt8]?, at place: String) throws(VaultError) {
        guard let next else {
            throw .untrusted("root version \(newest.version + 1) is missing", at: place)
        }
        newest = try newest.successor(
            verifying: UnverifiedMetadata(parsing: next, as: .root, place: place))
        digests[newest.version] = newest.digest
    }
}
