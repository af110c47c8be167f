import Foundation
import SystemPackage
import UpdateFramework
import VaultCrypto

/// Publishes to a folder as the publish command does, with the module's own drafts.
final class Publisher {
    let path: FilePath
    var keys: [MetadataRole: SigningKey] = [:]
    /// The last versions.
    var versions: [MetadataRole: Int64] = [:]
    var now = Repository.now
    var snapshotOf: MetadataReference?
    /// The roles that the targets delegate to.
    var delegations: Delegations?
    var teams: [Team] = []
    private let isOwner: Bool

    /// A delegated role and its records.
    struct Team {
        var role: MetadataRole
        var records: [TargetRecord] = []
        var delegations: Delegations?
    }

    init() {
        // In memory, to avoid the cost of `fsync`.
        let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
        path = FilePath("\(base)/assetvault-site-\(UUID().uuidString)/metadata")
        for role in MetadataRole.allTopLevel { keys[role] = SigningKey() }
        isOwner = true
    }

    private init(_ other: Publisher) {
        (path, keys, versions, now, isOwner) = (other.path, other.keys, other.versions, other.now, false)
    }

    deinit {
        if isOwner { try? FileManager.default.removeItem(atPath: path.removingLastComponent().string) }
    }

    /// A copy, for an attempt that does not change this publisher.
    func copy() -> Publisher { Publisher(self) }

    /// The next version of everything; of the root only the first or on request.
    @discardableResult
    func publish(_ paths: [String], root: Bool = false) async throws -> TrustChain {
        let records = paths.map {
            TargetRecord(path: $0, length: UInt64($0.utf8.count), sha256: SHA256.hash(Array($0.utf8).span))
        }
        return try await publish(records: records, root: root)
    }

    @discardableResult
    func publish(
        records: [TargetRecord], root: Bool = false, at moment: UTCTime = Repository.now
    ) async throws -> TrustChain {
        var files: [SignedMetadata] = []
        if root || versions[.root] == nil {
            let roles = TopLevelRole.allCases.map { role in
                (role, RoleTrust(keys[MetadataRole(role)].map { [$0.publicKey] } ?? []))
            }
            files.append(
                try sign(.root) {
                    try .root(version: $0, expires: $1, roles: Dictionary(uniqueKeysWithValues: roles))
                })
        }
        let targets = try sign(.targets) {
            try .targets(version: $0, expires: $1, records: records, delegations: delegations)
        }
        var listing = [MetadataRole.targets: snapshotOf ?? targets.reference]
        for team in teams {
            let file = try sign(team.role) {
                try .targets(
                    team.role, version: $0, expires: $1, records: team.records, delegations: team.delegations)
            }
            listing[team.role] = file.reference
            files.append(file)
        }
        let snapshot = try sign(.snapshot) {
            try .snapshot(version: $0, expires: $1, listing: listing)
        }
        let timestamp = try sign(.timestamp) {
            try .timestamp(version: $0, expires: $1, snapshot: snapshot.reference)
        }
        // In the wrong order, which publishing must correct.
        return try await MetadataFolder(path).publish(
            [timestamp, snapshot, targets] + files, now: moment
        ).chain
    }

    /// A delegation to a role; creates its key if it has none.
    func delegation(to role: MetadataRole, of scope: Delegation.Scope, isTerminating: Bool = false)
        -> Delegation
    {
        let key = keys[role] ?? SigningKey()
        keys[role] = key
        return Delegation(
            to: role, of: scope, trust: RoleTrust([key.publicKey]), isTerminating: isTerminating)
    }

    private func sign(
        _ role: MetadataRole, _ draft: (Int64, UTCTime) throws -> MetadataDraft
    ) throws -> SignedMetadata {
        versions[role, default: 0] += 1
        let draft = try draft(versions[role] ?? 1, MetadataLifetime().expiry(of: role, signedAt: now))
        guard let key = keys[role] else { return try draft.signed(with: Ed25519PrivateKey()) }
        return try key.withKey { try draft.signed(with: $0) }
    }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path.string).sorted()) ?? []
    }

    func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { Array($0) }
    }

    var files: [String: [UInt8]?] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, bytes($0)) })
    }
}
