public import StrictJSON
public import VaultCrypto
public import VaultErrors

/// Metadata that is written and not signed yet.
///
/// Members of the signed part that this library does not know are carried over from `carrying`, the signed
/// part of the version before.
public struct MetadataDraft: Sendable, Hashable {
    public let role: TopLevelRole
    public let version: Int64
    public let signed: JSONObject

    /// Names the keys of all four roles; must be signed by a threshold of the root keys, and of those of the
    /// root before.
    ///
    /// - Throws: `usage` when a role lacks keys, or has fewer than its threshold.
    public static func root(
        version: Int64, expires: UTCTime, roles: [TopLevelRole: RoleKeys], carrying old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var keyObjects = JSONObject()
        var roleObjects = JSONObject()
        for role in TopLevelRole.allCases {
            let trust = roles[role] ?? RoleKeys([])
            let keys = Set(trust.keys)
            guard trust.threshold >= 1, trust.threshold <= keys.count else {
                throw VaultError(
                    .usage, "\(keys.count) keys can't meet a threshold of \(trust.threshold)",
                    at: "role \(role.rawValue)", remedy: "name more keys or lower the threshold")
            }
            for key in keys {
                keyObjects[MetadataKeyID(of: key).description] = .object(MetadataKeyID.json(of: key))
            }
            let ids = keys.map { MetadataKeyID(of: $0).description }.sorted()
            roleObjects[role.rawValue] = [
                "keyids": .array(ids.map { .string($0) }), "threshold": .integer(Int64(trust.threshold)),
            ]
        }
        let members: JSONObject = [
            "consistent_snapshot": true, "keys": .object(keyObjects), "roles": .object(roleObjects),
        ]
        return try MetadataDraft(.root, version, expires, members, carrying: old)
    }

    /// Lists the site's files.
    ///
    /// - Throws: `usage` when two records have one path.
    public static func targets(
        version: Int64, expires: UTCTime, records: [TargetRecord], carrying old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var table = JSONObject()
        for record in records {
            guard table[record.path] == nil else {
                throw VaultError(
                    .usage, "it is listed twice", at: "target \(record.path.beginning)",
                    remedy: "give each target its own path")
            }
            table[record.path] = .object(record.json)
        }
        return try MetadataDraft(.targets, version, expires, ["targets": .object(table)], carrying: old)
    }

    /// Names the targets file by version, length and hash. Other files that the old snapshot lists stay listed.
    public static func snapshot(
        version: Int64, expires: UTCTime, targets: MetadataReference, carrying old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        var meta = JSONObject()
        if case .object(let listed)? = old["meta"] { meta = listed }
        meta[TopLevelRole.targets.fileName] = .object(targets.json)
        return try MetadataDraft(.snapshot, version, expires, ["meta": .object(meta)], carrying: old)
    }

    /// Names the snapshot file by version, length and hash.
    public static func timestamp(
        version: Int64, expires: UTCTime, snapshot: MetadataReference, carrying old: JSONObject = [:]
    ) throws(VaultError) -> MetadataDraft {
        let meta: JSONObject = [TopLevelRole.snapshot.fileName: .object(snapshot.json)]
        return try MetadataDraft(.timestamp, version, expires, ["meta": .object(meta)], carrying: old)
    }

    private init(
        _ role: TopLevelRole, _ version: Int64, _ expires: UTCTime, _ members: JSONObject,
        carrying old: JSONObject
    ) throws(VaultError) {
        guard version >= 1, JSONValue.integerRange.contains(version) else {
            throw VaultError(
                .usage, "\(version) is no version number", at: role.fileName,
                remedy: "give a number from 1 to 2^53 - 1")
        }
        var signed = old
        for (key, value) in members {
            signed[key] = value
        }
        signed["_type"] = .string(role.rawValue)
        signed["spec_version"] = .string(Self.specification)
        signed["version"] = .integer(version)
        signed["expires"] = .string(expires.description)
        self.role = role
        self.version = version
        self.signed = signed
    }

    /// The version of the TUF specification that is written.
    public static let specification = "1.0.34"

    /// The metadata with its first signature.
    public func signed(with key: borrowing Ed25519PrivateKey) throws(VaultError) -> SignedMetadata {
        try SignedMetadata(self, signatures: [:]).signed(with: key)
    }
}
