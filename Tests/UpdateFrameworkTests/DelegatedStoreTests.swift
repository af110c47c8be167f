import SystemPackage
import Testing
import UpdateFramework
import VaultBase

/// Stored delegated roles, and when they are still trusted.
@Suite struct DelegatedStoreTests {
    @Test func storedRolesAreNotFetchedAgain() async throws {
        var repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        var source = repository.source
        #expect(try await client.target(at: "levels/one", in: source)?.author == "team")
        #expect(source.requests == ["2.root.json", "timestamp.json", "1.team.json"])
        // New targets, the same team.
        try repository.release("packs/b.avpack")
        source = repository.source
        _ = try await client.tree(source)
        #expect(!source.requests.contains("1.team.json"))
        // A new team.
        try repository.publish("team", .snapshot, .timestamp)
        source = repository.source
        #expect(try await client.target(at: "levels/one", in: source)?.author == "team")
        #expect(source.requests.last == "2.team.json")
        #expect(client.bytes("team.json") == repository.files["2.team.json"])
    }

    @Test func lookUpReadsOnlyTheRolesOnTheWay() async throws {
        var repository = try Repository.withTeam()
        repository.delegate(["maps/*"], to: "cartographers")
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let source = repository.source
        _ = try await client.target(at: "levels/one", in: source)
        _ = try await client.target(at: "packs/a.avpack", in: source)
        #expect(source.requests.filter { $0.contains("team") || $0.contains("cart") } == ["2.team.json"])
    }

    /// The stored file has the listed version, length and hash; but the delegator now names another key.
    @Test(arguments: [false, true])
    func storedRoleIsVerifiedAgainstThePresentDelegation(_ isAnotherProcess: Bool) async throws {
        var repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        #expect(try await client.target(at: "levels/one", in: repository.source) != nil)
        let stored = client.bytes("team.json")
        let old = repository.keys[.team]
        repository.keys[.team] = [SigningKey()]
        try repository.publish(.targets, .snapshot, .timestamp)
        #expect(repository.files["1.team.json"] == stored)

        let store =
            isAnotherProcess ? MetadataStore(folder: FilePath(client.store.folder.string)) : client.store
        let source = repository.source
        let chain = try await store.refresh(from: source, now: Repository.now)
        await expectRefusal(saying: "0 valid signatures of the team keys in the role targets") {
            try await store.lookup(from: source, now: Repository.now).target(at: "levels/one", in: chain)
        }
        let tree = try await store.lookup(from: source, now: Repository.now).tree(of: chain)
        #expect(tree.refusals.map(\.role) == [.team])
        #expect(tree.records.map(\.path) == ["packs/a.avpack"])
        // The old key again, or a file signed by the new key: accepted at once.
        var renewed = repository
        try renewed.publish(.team, .snapshot, .timestamp)
        #expect(try await client.target(at: "levels/one", in: renewed.source)?.author == "team")
        repository = renewed
        repository.keys[.team] = old
        try repository.publish(.team, .targets, .snapshot, .timestamp)
        #expect(try await client.target(at: "levels/one", in: repository.source)?.author == "team")
    }

    /// The team's key can sign two files of one version; the snapshot decides.
    @Test func storedRoleIsReplacedByTheListedOneOfTheSameVersion() async throws {
        var repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        #expect(try await client.target(at: "levels/two", in: repository.source) == nil)
        repository.list("levels/two", by: .team)
        try repository.put(.team)
        try repository.publish(.snapshot, .timestamp)
        #expect(try await client.target(at: "levels/two", in: repository.source)?.author == "team")
        #expect(client.bytes("team.json") == repository.files["1.team.json"])
    }

    @Test func expiredStoredRoleIsRefused() async throws {
        var repository = try Repository()
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        repository.expiries[.team] = Repository.now.adding(days: 1)
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        #expect(try await client.target(at: "levels/one", in: repository.source) != nil)
        let now = Repository.now.adding(days: 1)
        let chain = try await client.refresh(repository.source, now: now)
        await expectRefusal(saying: "expired at") {
            try await client.store.lookup(from: repository.source, now: now).target(
                at: "levels/one", in: chain)
        }
    }

    @Test func damagedStoredRoleIsFetchedAgain() async throws {
        let repository = try Repository.withTeam()
        let client = try await TestClient.trusting(repository)
        _ = try await client.tree(repository.source)
        let good = try #require(client.bytes("team.json"))
        for bytes in [[], Array(good.dropLast(9)), Array("{}".utf8), good + [0x20]] {
            try client.write(bytes, to: "team.json")
            #expect(try await client.target(at: "levels/one", in: repository.source)?.author == "team")
            #expect(client.bytes("team.json") == good)
        }
    }

    @Test func manyProcessesReadATreeConcurrently() async throws {
        var repository = try Repository()
        repository.delegateToBins(bitLength: 4, namePrefix: "bin")
        for number in 0..<64 { repository.listInBin("packs/\(number)") }
        try repository.publishAll()
        let client = try await TestClient.trusting(repository)
        let source = repository.source
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = MetadataStore(folder: client.store.folder)
                    let chain = try await store.refresh(from: source, now: Repository.now)
                    return try await store.lookup(from: source, now: Repository.now).tree(of: chain)
                }
            }
            for try await tree in group {
                #expect(tree.records.count == 65)
                #expect(tree.refusals.allSatisfy { repository.files["1.\($0.role.fileName)"] == nil })
            }
        }
        #expect(client.fileNames.filter { $0.hasPrefix("bin-") }.count == repository.listings.count - 1)
    }
}
