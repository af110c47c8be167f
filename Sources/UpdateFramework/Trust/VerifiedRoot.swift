import StrictJSON
import VaultCrypto
public import VaultErrors

/// The root of trust: it names the keys of every role, its own included (section 4.3).
public struct VerifiedRoot: VerifiedMetadata {
    public let document: MetadataDocument
    /// Whether files at the host carry their version or hash in the name (section 6.2).
    public let usesConsistentSnapshots: Bool
    private let trusts: [TopLevelRole: RoleTrust]

    /// Believes a root because somebody vouches for it: it was shipped, pinned, or is met for the first time.
    /// It must be signed by its own keys.
    public init(pinning metadata: UnverifiedMetadata) throws(VaultError) {
        do throws(VaultError) {
            try self.init(selfSigned: metadata)
        } catch {
            throw error.asUntrusted
        }
    }

    /// Believes a root file that somebody gave. Throws `.untrusted`, with what to give, when it is none.
    init(vouchedFor bytes: [UInt8]) throws(VaultError) {
        let place = "trusted root"
        do throws(VaultError) {
            guard bytes.count <= MetadataRole.root.sizeLimit else {
                throw VaultError.oversized(limit: MetadataRole.root.sizeLimit, at: place)
            }
            try self.init(pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: place))
        } catch {
            throw VaultError(
                .untrusted, "it is no root file of a site: \(error.problem)", at: place,
                remedy: "give the file trusted-root.json of the site's publisher")
        }
    }

    /// The next root: exactly one version on, signed by this root's keys and by its own (section 5.3).
    public func successor(verifying metadata: UnverifiedMetadata) throws(VaultError) -> VerifiedRoot {
        try verify(metadata, as: .root)
        let found = metadata.document.version
        guard found == version + 1 else {
            throw .rollback(
                "its version is \(found) where \(version + 1) is expected", at: metadata.document.place)
        }
        return try VerifiedRoot(pinning: metadata)
    }

    private init(selfSigned metadata: UnverifiedMetadata) throws(VaultError) {
        let document = metadata.document
        guard document.role.topLevel == .root else {
            throw .untrusted(
                "it is of type \(document.role.type.rawValue) where root is expected", at: document.place)
        }
        var trusts: [TopLevelRole: RoleTrust] = [:]
        for role in TopLevelRole.allCases { trusts[role] = try metadata.rootTrust(in: role) }
        self.document = document
        self.trusts = trusts
        usesConsistentSnapshots =
            try document.signed.optionalBool("consistent_snapshot", at: document.place) ?? false
        try verify(metadata, as: .root)
    }

    /// Checks the signatures of a role's metadata against the keys that this root names for it.
    func verify(_ metadata: UnverifiedMetadata, as role: TopLevelRole) throws(VaultError) {
        guard metadata.document.role.topLevel == role, let trust = trusts[role] else {
            throw .untrusted("it is not \(role.rawValue) metadata", at: metadata.document.place)
        }
        try trust.verify(metadata, namedBy: "root version \(version)")
    }

    /// The keys that may sign for a role. Kinds of keys that this library does not know are left out.
    public func trust(in role: TopLevelRole) -> RoleTrust {
        trusts[role] ?? RoleTrust([MetadataKey]())
    }

    /// Whether a key that the older root named for the role is named no more.
    func revokesKeys(of role: TopLevelRole, since older: VerifiedRoot) -> Bool {
        let remaining = Set(trust(in: role).keys.map(\.key))
        return older.trust(in: role).keys.contains { !remaining.contains($0.key) }
    }

    /// Whether clients of the older root forget which versions of timestamp and snapshot they have seen, and so of all that a
    /// snapshot lists: a key of either is named no more, so that its thief can't lock them out (section 5.3.11).
    public func resetsVersions(since older: VerifiedRoot) -> Bool {
        revokesKeys(of: .timestamp, since: older) || revokesKeys(of: .snapshot, since: older)
    }

    /// The name of a role's file at the host.
    func hostedName(_ role: MetadataRole, version: Int64) -> String {
        usesConsistentSnapshots ? role.hostedName(version: version) : role.fileName
    }
}
