import Testing
import UpdateFramework
import VaultBase

/// Delegated roles that fail verification affect only what they may list.
@Suite struct DelegatedRoleTests {
    @Test(arguments: TeamAttack.all)
    func refusedTeamAffectsOnlyItsOwnPaths(_ attack: TeamAttack) async throws {
        var repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        _ = try await client.tree(repository.source)
        let stored = client.bytes("team.json")
        #expect(stored == repository.files["1.team.json"])

        repository.list("levels/two", by: .team)
        repository.records.append(.of("packs/new", by: .targets))
        try attack.prepare(&repository)
        try repository.publishAll()
        try attack.tamper(&repository)

        // The whole tree, and a look-up of one path.
        let tree = try await client.tree(repository.source)
        #expect(tree.refusals.map(\.role) == [.team])
        let error = try #require(tree.refusals.first?.error)
        #expect(error.category == attack.category)
        #expect(error.problem.contains(attack.saying), "\(error)")
        #expect(tree.delegatedRoles.isEmpty)
        #expect(tree.records.map(\.path) == ["packs/a.avpack", "packs/new"])
        for path in ["levels/one", "levels/two", "levels/missing"] {
            await expectRefusal(as: attack.category) {
                try await client.target(at: path, in: repository.source)
            }
            #expect(throws: VaultError.self) { try tree.record(at: path) }
        }
        // The other roles are unaffected, and stored files stay.
        #expect(try await client.target(at: "packs/new", in: repository.source) != nil)
        #expect(try await client.target(at: "packs/missing", in: repository.source) == nil)
        #expect(client.bytes("team.json") == stored)
    }

    @Test func recordsOutsideATeamsPathsAreIgnored() async throws {
        var repository = try Repository.withTeam()
        repository.list("packs/stolen", by: .team)
        repository.list("levels/deep/er", by: .team)
        repository.list("packs/a.avpack", by: .team)
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let tree = try await client.tree(repository.source)
        #expect(tree.refusals.isEmpty)
        #expect(tree.records.map(\.path) == ["levels/one", "packs/a.avpack"])
        for path in ["packs/stolen", "levels/deep/er"] {
            #expect(try tree.record(at: path) == nil)
            #expect(try await client.target(at: path, in: repository.source) == nil)
        }
        #expect(try tree.record(at: "packs/a.avpack") == tree.chain.targets["packs/a.avpack"])
        #expect(try tree.record(at: "packs/a.avpack")?.author == nil)
    }
}
