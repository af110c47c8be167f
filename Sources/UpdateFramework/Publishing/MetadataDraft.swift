public import VaultBase
public import VaultCrypto

/// Metadata that is not signed yet.
///
/// Unknown members of the signed part are copied from `keepingMembersOf`, the signed part of the previous version.
public struct MetadataDraft: Sendable, Hashable {
    public let role: MetadataRole
    public let version: Int64
    public let expires: UTCTime
    public let signed: JSONObject

    /// Names the keys of all four roles; must be signed by a threshold of its own root keys and of those of the
    /// previous root.
    ///
    /// - Throws: `usage` when a role has no keys, or fewer than its threshold.
    public static func root(
        version: Int64, expires: UTCTime, roles: [TopLevelRole: RoleTrust],
        keepingMembersOf old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var roleObjects = JSONObject()
        for role in TopLevelRole.allCases {
            let trust = roles[role] ?? RoleTrust([MetadataKey]())
            try trust.requireSatisfiable(of: MetadataRole(role))
            roleObjects[role.rawValue] = .object(trust.json)
        }
        let members: JSONObject = [
            "consistent_snapshot": true, "keys": .object(JSONObject(keysOf: roles.values)),
            "roles": .object(roleObjects),
        ]
        return try MetadataDraft(.root, version, expires, members, keepingMembersOf: old)
    }

    /// Lists files, and the roles that may list others.
    ///
    /// - Parameter role: ``MetadataRole/targets``, or a role that they delegate to.
    /// - Throws: `usage` when two records have the same path, or a delegated role has too few keys.
    public static func targets(
        _ role: MetadataRole = .targets, version: Int64, expires: UTCTime, records: [TargetRecord],
        delegations: Delegations? = nil, keepingMembersOf old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var table = JSONObject()
        for record in records {
            guard table[record.path] == nil else {
                throw VaultError(
                    .usage, "it is listed twice", at: "target \(record.path.excerpt)",
                    remedy: "give each target its own path")
            }
            table[record.path] = .object(record.json)
        }
        switch delegations {
        case .roles(let roles)?: for role in roles { try role.trust.requireSatisfiable(of: role.role) }
        case .bins(let bins)?: try bins.trust.requireSatisfiable(of: role)
        case nil: break
        }
        var old = old
        old["delegations"] = delegations.map { .object($0.json) }
        if role.topLevel == nil { old[Self.roleMember] = .string(role.name) }
        return try MetadataDraft(role, version, expires, ["targets": .object(table)], keepingMembersOf: old)
    }

    /// The member of a delegated role's signed part with the role's name. Several roles may have one key: this keeps a host that
    /// also has the snapshot key from serving one in place of another. The specification allows further members (section
    /// 4.1); other clients ignore it.
    public static let roleMember = "x-role"

    /// Lists the files of all targets roles by version, and by length and hash where known. Other entries of the old
    /// snapshot stay listed: a missing role is refused as a rollback.
    public static func snapshot(
        version: Int64, expires: UTCTime, listing files: [MetadataRole: MetadataReference],
        keepingMembersOf old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var meta = JSONObject()
        if case .object(let listed)? = old["meta"] { meta = listed }
        for (role, reference) in files { meta[role.listedName] = .object(reference.json) }
        return try MetadataDraft(.snapshot, version, expires, ["meta": .object(meta)], keepingMembersOf: old)
    }

    /// Lists the snapshot file by version, length and hash.
    public static func timestamp(
        version: Int64, expires: UTCTime, snapshot: MetadataReference, keepingMembersOf old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        let meta: JSONObject = [MetadataRole.snapshot.listedName: .object(snapshot.json)]
        return try MetadataDraft(.timestamp, version, expires, ["meta": .object(meta)], keepingMembersOf: old)
    }

    private init(
        _ role: MetadataRole, _ version: Int64, _ expires: UTCTime, _ members: JSONObject,
        keepingMembersOf old: JSONObject
    ) throws(VaultError) {
        guard version >= 1, JSONValue.integerRange.contains(version) else {
            throw VaultError(
                .usage, "\(version) is not a valid version number", at: role.fileName,
                remedy: "give a number from 1 to 2^53 - 1")
        }
        var signed = old
        for (key, value) in members {
            signed[key] = value
        }
        signed["_type"] = .string(role.type.rawValue)
        signed["spec_version"] = .string(Self.specification)
        signed["version"] = .integer(version)
        signed["expires"] = .string(expires.description)
        self.role = role
        self.version = version
        self.expires = expires
        self.signed = signed
    }

    /// The content of an existing file, to be signed again.
    init(_ document: MetadataDocument) {
        (role, version, expires) = (document.role, document.version, document.expires)
        signed = document.signed
    }

    /// The version of the TUF specification in new metadata.
    public static let specification = "1.0.34"

    /// The metadata with its first signature.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        try SignedMetadata(self).signed(with: key)
    }
}

/// The next version of each role: one above all existing files, and above what the published snapshot lists: clients refuse a lower
/// version also of a role whose files are gone.
///
/// If an attacker with stolen keys used the highest possible version, it is one above the versions in the lower half of
/// the range, which is free. Clients that saw the highest version accept it only after they forgot it
/// (``VerifiedRoot/resetsVersions(since:)``).
public struct NextVersions: Sendable {
    /// The highest possible version, 2^53 - 1.
    public static let highestPossible = JSONValue.integerRange.upperBound
    private static let half = highestPossible / 2

    /// By file name.
    private var highest: [String: Int64] = [:]
    private var highestInLowerHalf: [String: Int64] = [:]

    public subscript(role: MetadataRole) -> Int64 {
        let name = role.fileName
        let version = highest[name] ?? 0
        return (version < Self.highestPossible ? version : highestInLowerHalf[name] ?? 0) + 1
    }

    /// Counts all that a snapshot lists.
    public mutating func add(_ snapshot: VerifiedSnapshot) {
        for (name, version) in snapshot.listedVersions { add(version, of: name) }
    }

    /// Counts a number that is taken elsewhere.
    public mutating func add(_ file: MetadataFileName) {
        add(file.version, of: file.unversionedName)
    }

    mutating func add(_ version: Int64, of fileName: String) {
        highest[fileName] = max(version, highest[fileName] ?? 0)
        guard version <= Self.half else { return }
        highestInLowerHalf[fileName] = max(version, highestInLowerHalf[fileName] ?? 0)
    }
}

/// How long metadata of each role is valid after it was signed, in days.
public struct MetadataLifetime: Sendable, Hashable {
    public var root = 365
    public var targets = 365
    public var snapshot = 30
    public var timestamp = 30

    public init() {}

    /// The expiry of metadata signed now.
    public func expiry(of role: MetadataRole, signedAt now: UTCTime) -> UTCTime {
        now.adding(days: days(of: role))
    }

    /// The period of a role.
    public func days(of role: MetadataRole) -> Int {
        switch role.type {
        case .root: root
        case .targets: targets
        case .snapshot: snapshot
        case .timestamp: timestamp
        }
    }

    /// Whether less than a quarter of the role's period is left before `expires`.
    public func isRenewalDue(of role: MetadataRole, expiring expires: UTCTime, at now: UTCTime) -> Bool {
        let period = expiry(of: role, signedAt: now).secondsSince1970 - now.secondsSince1970
        return expires.secondsSince1970 - now.secondsSince1970 < period / 4
    }
}
