public import SystemPackage
public import VaultBase
import VaultFileSystem

/// The root of trust: it names the keys of the top-level roles, its own included (TUF section 4.3).
public struct VerifiedRoot: VerifiedMetadata {
    public let document: MetadataDocument
    /// Whether file names at the host contain the version or hash (TUF section 6.2).
    public let usesConsistentSnapshots: Bool
    private let trusts: [TopLevelRole: RoleTrust]

    /// Trusts a root without a predecessor: it was shipped, pinned, or is seen for the first time. It must be signed by
    /// its own keys.
    public init(pinning metadata: UnverifiedMetadata) throws(VaultError) {
        do throws(VaultError) {
            try self.init(selfSigned: metadata)
        } catch {
            throw error.asUntrusted
        }
    }

    /// Trusts a root file given by the user. Throws `.untrusted`, with the file to use instead, when it is none.
    public init(trustedRootFile bytes: [UInt8]) throws(VaultError) {
        try self.init(at: "trusted root") { bytes }
    }

    /// The same for a file on this machine. Throws `.missing` and `.io`, too.
    public init(trustedRootFile path: FilePath) throws(VaultError) {
        try self.init(at: path.string) { () throws(VaultError) in
            try DurableFile.read(path, limit: MetadataRole.root.sizeLimit)
        }
    }

    private init(at place: String, reading file: () throws(VaultError) -> [UInt8]) throws(VaultError) {
        do throws(VaultError) {
            let bytes = try file()
            guard bytes.count <= MetadataRole.root.sizeLimit else {
                throw VaultError.oversized(limit: MetadataRole.root.sizeLimit, at: place)
            }
            try self.init(pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: place))
        } catch {
            guard error.category == .corrupt || error.category == .untrusted else { throw error }
            throw VaultError(
                .untrusted, "it is not a site's root file: \(error.problem)", at: place,
                remedy: "use the file trusted-root.json of the site's publisher")
        }
    }

    /// The next root: its version exactly one higher, signed by this root's keys and by its own (TUF section 5.3).
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
            throw .malformedMetadata(
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

    /// Verifies the signatures of a role's metadata against the keys that this root names for it.
    func verify(_ metadata: UnverifiedMetadata, as role: TopLevelRole) throws(VaultError) {
        guard metadata.document.role.topLevel == role, let trust = trusts[role] else {
            throw .malformedMetadata("it is not \(role.rawValue) metadata", at: metadata.document.place)
        }
        try trust.verify(metadata, delegatedBy: "root version \(version)")
    }

    /// The keys and threshold of a role, without unsupported kinds of keys.
    public func trust(in role: TopLevelRole) -> RoleTrust {
        trusts[role] ?? RoleTrust([MetadataKey]())
    }

    /// Whether this root no longer names a key that the older root named for the role.
    func revokesKeys(of role: TopLevelRole, since older: VerifiedRoot) -> Bool {
        let remaining = Set(trust(in: role).keys.map(\.key))
        return older.trust(in: role).keys.contains { !remaining.contains($0.key) }
    }

    /// Whether clients of the older root forget the versions of timestamp, snapshot and everything in a snapshot: a key
    /// of either was removed, and its thief must not lock clients out (TUF section 5.3.11).
    public func resetsVersions(since older: VerifiedRoot) -> Bool {
        revokesKeys(of: .timestamp, since: older) || revokesKeys(of: .snapshot, since: older)
    }

    /// The name of a role's file at the host.
    func hostedName(_ role: MetadataRole, version: Int64) -> String {
        usesConsistentSnapshots ? role.hostedName(version: version) : role.fileName
    }
}

/// Roots of one site, lowest version first: which versions may be lowered under the last root.
extension [VerifiedRoot] {
    /// Whether a client that goes from the root with this version to the last of these forgets the versions that it has seen
    /// (``VerifiedRoot/resetsVersions(since:)``).
    public func resetsVersions(since version: Int64) -> Bool {
        changes(since: version) { older, newer in newer.resetsVersions(since: older) }
    }

    /// Whether a publisher may use a lower version of a role than was published under the root with this version: if clients have
    /// forgotten that version, and a key of the role was removed, with which a thief may have raised it. Clients forget the
    /// versions of all roles, but a version that remaining keys have signed is the publisher's own.
    public func mayLower(_ role: TopLevelRole, since version: Int64) -> Bool {
        resetsVersions(since: version)
            && changes(since: version) { older, newer in newer.revokesKeys(of: role, since: older) }
    }

    private func changes(since version: Int64, _ matches: (VerifiedRoot, VerifiedRoot) -> Bool) -> Bool {
        zip(self, dropFirst()).contains { older, newer in newer.version > version && matches(older, newer) }
    }
}
