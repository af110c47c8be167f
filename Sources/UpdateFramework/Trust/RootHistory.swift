public import VaultBase
import VaultCrypto

/// A site's roots from a given one on, each verified by the signatures of its predecessor.
public struct RootHistory: Sendable {
    /// The maximum number of roots that are read at once, also by a client; a daily change of the root reaches it after about three years.
    public static let limit = 1024

    public let roots: [VerifiedRoot]

    /// - Parameter last: the version to read up to; nil reads all.
    /// - Throws: `untrusted` for a root that its predecessor did not sign, `unavailable` when one before `last` is
    ///   missing.
    public init(
        in source: any MetadataSource, from first: VerifiedRoot, upTo last: Int64? = nil
    ) async throws(VaultError) {
        var newest = first
        var roots = [first]
        while newest.version < last ?? .max, roots.count < Self.limit {
            guard let next = try await source.metadata(of: .root, version: newest.version + 1) else {
                guard last != nil else { break }
                let name = MetadataRole.root.hostedName(version: newest.version + 1)
                throw VaultError(
                    .unavailable, "the host does not have it", at: source.place(of: name),
                    remedy: "upload it again; a site always keeps all its roots")
            }
            newest = try newest.successor(verifying: next)
            roots.append(newest)
        }
        self.roots = roots
    }

    /// Begins with the site's own `1.root.json`. Nil when that is missing.
    public init?(fromFirstRootOf source: any MetadataSource, upTo last: Int64? = nil) async throws(VaultError)
    {
        guard let first = try await source.metadata(of: .root, version: 1) else { return nil }
        try await self.init(in: source, from: VerifiedRoot(pinning: first), upTo: last)
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
