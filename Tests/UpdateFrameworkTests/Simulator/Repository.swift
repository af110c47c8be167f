import VaultBase
import VaultCrypto

@testable import UpdateFramework

/// A repository in memory with its own keys, valid until a test changes its files.
struct Repository {
    /// 2026-01-01T00:00:00Z, the time of all tests.
    static let now = UTCTime("2026-01-01T00:00:00Z")!

    var keys: [MetadataRole: [SigningKey]] = [:]
    /// The signers; the keys by default.
    var signers: [MetadataRole: [SigningKey]] = [:]
    var thresholds: [MetadataRole: Int] = [:]
    var versions: [MetadataRole: Int64] = [:]
    var expiries: [MetadataRole: UTCTime] = [:]
    /// The records of each targets role.
    var listings: [MetadataRole: [TargetRecord]] = [:]
    /// The delegations of each targets role.
    var links: [MetadataRole: [Link]] = [:]
    var bins: [MetadataRole: Bins] = [:]
    /// More key IDs that the role's first signer signs under.
    var aliases: [MetadataRole: [String]] = [:]
    /// Delegated roles that the snapshot omits.
    var unlisted: Set<MetadataRole> = []
    var usesConsistentSnapshots = true
    /// The signed entry of a file.
    var hashes: ([UInt8]) -> FileHashes = { FileHashes(sha256: SHA256.hash($0.span)) }
    /// A change of a role's signed part before it is signed.
    var amend: [MetadataRole: (inout JSONObject) throws -> Void] = [:]
    /// The served files, by name.
    var files: [String: [UInt8]] = [:]

    /// Version 1 of everything, one key per role, one target.
    init() throws {
        for role in MetadataRole.allTopLevel {
            keys[role] = [SigningKey()]
        }
        records = [TargetRecord(path: "packs/a.avpack", length: 3, sha256: SHA256.hash([1, 2, 3].span))]
        try publish(.root, .targets, .snapshot, .timestamp)
    }

    /// The records of the top-level targets.
    var records: [TargetRecord] {
        get { listings[.targets] ?? [] }
        set { listings[.targets] = newValue }
    }

    /// The next version of each role, in the order given.
    mutating func publish(_ roles: MetadataRole...) throws { try publish(roles) }

    mutating func publish(_ roles: [MetadataRole]) throws {
        for role in roles {
            versions[role, default: 0] += 1
            try put(role)
        }
    }

    /// Writes a role's file again under its present version.
    mutating func put(_ role: MetadataRole) throws {
        var signed = try draft(role).signed
        try amend[role]?(&signed)
        files[hostedName(role)] = try sign(
            signed, by: signers[role] ?? keys[role] ?? [], aliases: aliases[role] ?? [])
    }

    /// The name of the role's present file at the host.
    func hostedName(_ role: MetadataRole) -> String {
        usesConsistentSnapshots || role == .root
            ? role.hostedName(version: versions[role] ?? 1) : role.fileName
    }

    func reference(_ role: MetadataRole) -> MetadataReference {
        let bytes = files[hostedName(role)] ?? []
        return MetadataReference(
            version: versions[role] ?? 1, length: UInt64(bytes.count), hashes: hashes(bytes))
    }

    /// Adds a file to the targets and publishes everything but the root.
    mutating func release(_ path: String) throws {
        records.append(TargetRecord(path: path, length: 1, sha256: SHA256.hash([7].span)))
        try publish(.targets, .snapshot, .timestamp)
    }

    /// The second version of a role, with what lists it.
    mutating func publishSecond(_ role: MetadataRole) throws {
        if role == .root { try publish(.root) } else { try release("packs/b.avpack") }
    }

    /// A served file, parsed.
    func json(_ name: String) throws -> JSONObject {
        let bytes = files[name] ?? []
        return try JSONValue(parsing: bytes.span, place: name).asObject(at: name)
    }

    var firstRoot: [UInt8] { files["1.root.json"] ?? [] }
    var source: MemorySource { MemorySource(files) }
}
