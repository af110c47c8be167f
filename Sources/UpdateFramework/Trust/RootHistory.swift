public import VaultBase
import VaultCrypto

/// A site's roots from `1.root.json` on, each verified by the signatures of its predecessor.
public struct RootHistory: Sendable {
    /// The maximum number of roots that are read at once, also by a client; a daily change of the root reaches it after about three years.
    public static let limit = 1024

    public let roots: [VerifiedRoot]

    /// Nil when the first root is missing.
    ///
    /// - Parameter last: the version to read up to; nil reads all.
    /// - Throws: `untrusted` for a root that its predecessor did not sign, `unavailable` when one before `last` is
    ///   missing.
    public init?(fromFirstRootOf source: any MetadataSource, upTo last: Int64? = nil) async throws(VaultError)
    {
        guard let first = try await source.metadata(of: .root, version: 1) else { return nil }
        var newest = try VerifiedRoot(pinning: first)
        var roots = [newest]
        while newest.version < last ?? .max, roots.count < Self.limit {
            guard let next = try await source.metadata(of: .root, version: newest.version + 1) else {
                guard last != nil else { break }
                throw .missingRoot(newest.version + 1, in: source)
            }
            newest = try newest.successor(verifying: next)
            roots.append(newest)
        }
        self.roots = roots
    }
}

extension VaultError {
    /// A root that a site must keep.
    public static func missingRoot(_ version: Int64, in source: any MetadataSource) -> VaultError {
        VaultError(
            .unavailable, "this root of the site is missing",
            at: source.place(of: MetadataRole.root.hostedName(version: version)),
            remedy: "a site keeps all its roots: put the publisher's copy of it there again")
    }
}

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
