import StrictJSON
import UpdateFramework
import VaultCrypto

/// A repository in memory with keys of its own, honest until a test changes its files.
struct Repository {
    /// 2026-01-01T00:00:00Z, the moment of every test.
    static let now = UTCTime("2026-01-01T00:00:00Z")!

    var keys: [TopLevelRole: [SigningKey]] = [:]
    /// Who signs; the keys, unless a test says otherwise.
    var signers: [TopLevelRole: [SigningKey]] = [:]
    var thresholds: [TopLevelRole: Int] = [:]
    var versions: [TopLevelRole: Int64] = [:]
    var expiries: [TopLevelRole: UTCTime] = [:]
    var records: [TargetRecord] = []
    /// A last change of a role's signed part, before it is signed.
    var amend: [TopLevelRole: (inout JSONObject) -> Void] = [:]
    /// What the host serves, by name.
    var files: [String: [UInt8]] = [:]

    /// Version 1 of everything, one key a role, one target.
    init() throws {
        for role in TopLevelRole.allCases {
            keys[role] = [SigningKey()]
        }
        records = [TargetRecord(path: "packs/a.avpack", length: 3, sha256: SHA256.hash([1, 2, 3].span))]
        try publish(.root, .targets, .snapshot, .timestamp)
    }

    /// The next version of each role, in the order given.
    mutating func publish(_ roles: TopLevelRole...) throws {
        for role in roles {
            versions[role, default: 0] += 1
            try put(role)
        }
    }

    /// Writes a role's file again under its present version.
    mutating func put(_ role: TopLevelRole) throws {
        let version = versions[role] ?? 1
        files[role.hostedName(version: version)] = try sign(
            draft(role).signed, by: signers[role] ?? keys[role] ?? [])
    }

    func draft(_ role: TopLevelRole) throws -> MetadataDraft {
        let version = versions[role] ?? 1
        let expires = expiries[role] ?? MetadataLifetime().expiry(of: role, signedAt: Self.now)
        var carried = JSONObject()
        switch role {
        case .root:
            let roles = keys.map { role, keys in
                (role, RoleKeys(keys.map(\.publicKey), threshold: thresholds[role] ?? 1))
            }
            return try .root(
                version: version, expires: expires, roles: Dictionary(uniqueKeysWithValues: roles))
        case .targets:
            return try .targets(version: version, expires: expires, records: records)
        case .snapshot:
            return try .snapshot(version: version, expires: expires, targets: reference(.targets))
        case .timestamp:
            carried["x-note"] = "kept"
            return try .timestamp(
                version: version, expires: expires, snapshot: reference(.snapshot), carrying: carried)
        }
    }

    func reference(_ role: TopLevelRole) -> MetadataReference {
        let version = versions[role] ?? 1
        return MetadataReference(version: version, bytes: files[role.hostedName(version: version)] ?? [])
    }

    /// Signs any signed part, valid or not.
    func sign(_ signed: JSONObject, by signers: [SigningKey]) throws -> [UInt8] {
        var signed = signed
        if case .string(let name)? = signed["_type"], let role = TopLevelRole(rawValue: name) {
            amend[role]?(&signed)
        }
        let message = JSONValue.object(signed).canonical()
        let signatures = signers.map { signer -> JSONValue in
            let hex = signer.sign(message).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return [
                "keyid": .string(MetadataKeyID(of: signer.publicKey).description),
                "sig": .string(hex.joined()),
            ]
        }
        return JSONValue.object(["signatures": .array(signatures), "signed": .object(signed)]).pretty()
    }

    /// Adds a file to the targets and publishes everything but the root.
    mutating func release(_ path: String) throws {
        records.append(TargetRecord(path: path, length: 1, sha256: SHA256.hash([7].span)))
        try publish(.targets, .snapshot, .timestamp)
    }

    /// A served file, parsed.
    func json(_ name: String) throws -> JSONObject {
        let bytes = files[name] ?? []
        return try JSONValue(parsing: bytes.span, place: name).asObject(at: name)
    }

    var firstRoot: [UInt8] { files["1.root.json"] ?? [] }
    var source: MemorySource { MemorySource(files) }
}
