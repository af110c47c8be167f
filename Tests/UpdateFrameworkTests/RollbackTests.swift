import Testing
import UpdateFramework
import VaultBase

@Suite struct RollbackTests {
    @Test func anOlderTimestampIsRefused() async throws {
        var repository = try Repository()
        let old = repository.source
        try repository.release("packs/b.avpack")
        let client = try await TestClient.trusting(repository)
        await client.expectRefusal(
            of: old, at: "timestamp.json", saying: "version 1 is older than the trusted version 2 (rollback)",
            leaving: .init(root: 1, timestamp: 2, snapshot: 2, targets: 2))
        try await client.refresh(repository.source)
    }

    @Test func aTimestampOfTheSameVersionChangesNothing() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        let before = client.bytes("timestamp.json")
        try repository.publish(.targets, .snapshot)
        try repository.put(.timestamp)
        let chain = try await client.refresh(repository.source)
        #expect(chain.versions == .first)
        #expect(client.bytes("timestamp.json") == before)
    }

    @Test func aNewTimestampMayNotListAnOlderSnapshot() async throws {
        var repository = try Repository()
        try repository.release("packs/b.avpack")
        let client = try await TestClient.trusting(repository)
        repository.versions[.snapshot] = 1
        try repository.publish(.timestamp)
        await client.expectRefusal(
            of: repository.source, at: "timestamp.json",
            saying: "lists snapshot version 1, which is older than the trusted version 2",
            leaving: .init(root: 1, timestamp: 2, snapshot: 2, targets: 2))
    }

    @Test func aNewSnapshotMayNotListOlderTargets() async throws {
        var repository = try Repository()
        try repository.release("packs/b.avpack")
        let client = try await TestClient.trusting(repository)
        let honest = repository
        repository.versions[.targets] = 1
        try repository.publish(.snapshot, .timestamp)
        await client.expectRefusal(
            of: repository.source, at: "3.snapshot.json",
            saying: "lists targets.json version 1, which is older than the trusted version 2",
            leaving: .init(root: 1, timestamp: 3, snapshot: 2, targets: 2))
        repository = honest
        repository.versions[.snapshot] = 3
        repository.versions[.timestamp] = 3
        try repository.release("packs/c.avpack")
        try await client.refresh(repository.source)
    }

    @Test func aNewSnapshotMustListAllEarlierRoles() async throws {
        var repository = try Repository()
        repository.amend[.snapshot] = { try $0.change("meta") { $0["levels.json"] = ["version": 1] } }
        try repository.publish(.snapshot, .timestamp)
        let client = try await TestClient.trusting(repository)
        repository.amend[.snapshot] = nil
        try repository.publish(.snapshot, .timestamp)
        await client.expectRefusal(
            of: repository.source, at: "3.snapshot.json", saying: "no longer lists levels.json",
            leaving: .init(root: 1, timestamp: 3, snapshot: 2, targets: 1))
    }

    @Test(arguments: [[.timestamp], [.snapshot], [.timestamp, .snapshot]] as [[MetadataRole]])
    func newKeysRecoverFromRaisedVersions(_ rotated: [MetadataRole]) async throws {
        var repository = try Repository()
        for role in rotated { repository.versions[role] = 900 }
        repository.versions[.targets] = 900
        try repository.publish(.targets)
        for role in [MetadataRole.snapshot, .timestamp] {
            if rotated.contains(role) { try repository.publish(role) } else { try repository.put(role) }
        }
        let client = try await TestClient.trusting(repository)

        for role in rotated {
            repository.keys[role] = [SigningKey()]
            repository.versions[role] = 1
        }
        repository.versions[.targets] = 2
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        let chain = try await client.refresh(repository.source)
        #expect(chain.targets.version == 3)
        #expect(chain.timestamp.version == 2)
        #expect(client.versions == chain.versions)
    }

    @Test func addingAKeyKeepsKnownVersions() async throws {
        var repository = try Repository()
        let old = repository
        try repository.release("packs/b.avpack")
        let client = try await TestClient.trusting(repository)
        repository.keys[.timestamp, default: []].append(SigningKey())
        try repository.publish(.root)
        repository.files["timestamp.json"] = old.files["timestamp.json"]
        await client.expectRefusal(
            of: repository.source, at: "timestamp.json", saying: "older than the trusted version 2",
            leaving: .init(root: 2, timestamp: 2, snapshot: 2, targets: 2))
    }
}
