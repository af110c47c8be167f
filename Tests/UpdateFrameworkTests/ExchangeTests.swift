import Testing
import UpdateFramework
import VaultBase

/// Complete files of other sites, at the host and in the store.
@Suite struct ExchangeTests {
    @Test(arguments: ["2.root.json", "timestamp.json", "2.snapshot.json", "2.targets.json"])
    func oneFileOfAnotherSiteIsRefused(_ name: String) async throws {
        var (mine, other) = (try Repository(), try Repository())
        let client = try await TestClient.trusting(mine)
        try mine.release("packs/b.avpack")
        try other.publish(.root)
        try other.release("packs/b.avpack")
        var files = mine.files
        files[name] = other.files[name]
        let before = client.versions
        await client.expectRefusal(of: MemorySource(files), at: name)
        #expect(client.versions[.root] == before[.root])
        #expect(client.versions[.targets] == before[.targets])
        #expect(try await client.refresh(mine.source).targets["packs/b.avpack"] != nil)
    }

    @Test func aTeamOfAnotherSiteIsRefused() async throws {
        var (mine, other) = (try Repository.withTeam(), try Repository.withTeam())
        other.list("levels/two", by: .team)
        try other.put(.team)
        mine.files["1.team.json"] = other.files["1.team.json"]
        for isListed in [false, true] {
            if isListed {
                mine.versions[.snapshot] = 2
                try mine.publish(.snapshot, .timestamp)
            }
            let tree = try await TestClient.tree(of: mine)
            #expect(tree.refusals.map(\.role) == [.team])
            #expect(
                tree.refusals.first?.error.problem.contains(
                    isListed ? "0 valid signatures" : "it has more than") == true)
        }
    }

    /// A validly signed root that is not part of the chain is refused.
    @Test(arguments: [false, true])
    func replacedStoredRootIsRefused(_ isTrustGiven: Bool) async throws {
        let (mine, other) = (try Repository(), try Repository())
        let client = try await TestClient.trusting(mine)
        try client.write(other.firstRoot, to: "root.json")
        for source in [mine.source, other.source] {
            await client.expectRefusal(
                of: source, trusting: isTrustGiven ? mine.firstRoot : nil, saying: "stored root")
            #expect(source.requests.isEmpty)
        }
        try client.write(mine.firstRoot, to: "root.json")
        try await client.refresh(mine.source)
    }

    /// Stored files of another site count as missing.
    @Test(arguments: ["timestamp.json", "snapshot.json", "targets.json", "team.json"])
    func aStoredFileOfAnotherSiteIsReplaced(_ name: String) async throws {
        var (mine, other) = (try Repository.withTeam(), try Repository.withTeam())
        other.versions = other.versions.mapValues { $0 + 7 }
        other.versions[.root] = 1
        try other.publishAll()
        let (client, otherClient) = (
            try await TestClient.trusting(mine), try await TestClient.trusting(other)
        )
        _ = try await client.tree(mine.source)
        _ = try await otherClient.tree(other.source)
        let good = client.bytes(name)
        try client.write(otherClient.bytes(name) ?? [], to: name)
        #expect(client.bytes(name) != good)
        #expect(try await client.tree(mine.source).records.count == 2)
        #expect(client.bytes(name) == good)
    }
}
