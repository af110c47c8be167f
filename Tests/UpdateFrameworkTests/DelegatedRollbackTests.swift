import Testing
import UpdateFramework
import VaultBase

/// Rollback of delegated roles, which the snapshot prevents.
@Suite struct DelegatedRollbackTests {
    /// A client that has the team's second version.
    private func seen() async throws -> (Repository, TestClient) {
        var repository = try Repository.withTeam()
        repository.list("levels/two", by: .team)
        try repository.publish(.team, .snapshot, .timestamp)
        let client = try await TestClient.trusting(repository)
        #expect(try await client.target(at: "levels/two", in: repository.source) != nil)
        return (repository, client)
    }

    private static let kept: [MetadataRole: Int64] = .init(root: 1, timestamp: 4, snapshot: 3, targets: 2)

    @Test func snapshotWithAnOlderTeamIsRefused() async throws {
        var (repository, client) = try await seen()
        let honest = repository
        repository.versions[.team] = 1
        try repository.publish(.snapshot, .timestamp)
        await client.expectRefusal(
            of: repository.source, at: "4.snapshot.json",
            saying: "lists team.json version 1, which is older than the trusted version 2", leaving: Self.kept
        )
        #expect(client.bytes("team.json") == honest.files["2.team.json"])
    }

    @Test func snapshotWithoutATeamIsRefused() async throws {
        var (repository, client) = try await seen()
        repository.unlisted = [.team]
        try repository.publish(.snapshot, .timestamp)
        await client.expectRefusal(
            of: repository.source, at: "4.snapshot.json", saying: "no longer lists team.json",
            leaving: Self.kept)
    }

    /// A similar-looking name is another role.
    @Test func similarNameDoesNotReplaceATeam() async throws {
        var repository = try Repository()
        repository.delegate(to: "\u{E9}")
        repository.list("f", by: "\u{E9}")
        repository.amend[.snapshot] = {
            try $0.change("meta") { meta in
                meta["e\u{301}.json"] = meta["\u{E9}.json"]
                meta["\u{E9}.json"] = nil
            }
        }
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.first?.error.problem.contains("does not list it") == true)
    }

    /// An attacker raised the versions of the team and the snapshot; new snapshot keys allow lower ones again.
    @Test func newSnapshotKeysRecoverATeamFromARaisedVersion() async throws {
        var repository = try Repository.withTeam()
        repository.versions[.team] = 900
        repository.versions[.snapshot] = 900
        try repository.publish(.team, .snapshot, .timestamp)
        let client = try await TestClient.trusting(repository)
        _ = try await client.tree(repository.source)
        repository.versions[.team] = 1
        repository.versions[.snapshot] = 2
        repository.keys[.team] = [SigningKey()]
        repository.keys[.snapshot] = [SigningKey()]
        repository.list("levels/recovered", by: .team)
        try repository.publish(.root, .team, .targets, .snapshot, .timestamp)
        #expect(try await client.target(at: "levels/recovered", in: repository.source)?.author == "team")
        #expect(client.bytes("team.json") == repository.files["2.team.json"])
    }

    /// While a slow client reads the old team, a faster one stores the new one.
    @Test func concurrentLookUpsKeepTheStoreConsistent() async throws {
        var repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        let old = repository.source
        let chain = try await client.refresh(old)
        repository.list("levels/two", by: .team)
        try repository.publish(.team, .snapshot, .timestamp)
        let newest = repository.source
        #expect(try await client.target(at: "levels/two", in: newest) != nil)
        // The older chain is unchanged, without newer roles.
        let record = try await client.store.lookup(from: old, now: Repository.now).target(
            at: "levels/two", in: chain)
        #expect(record == nil)
        #expect(try await client.target(at: "levels/two", in: newest)?.author == "team")
    }
}
