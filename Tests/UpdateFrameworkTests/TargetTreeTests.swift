import Testing
import UpdateFramework
import VaultBase

/// All records of a site.
@Suite struct TargetTreeTests {
    /// a and b delegate to d, each with its own keys.
    private func diamond(a: [SigningKey], b: [SigningKey], signer: SigningKey, paths: [String]) throws
        -> Repository
    {
        var repository = try Repository()
        repository.delegate(paths, to: "a")
        repository.delegate(to: "b")
        repository.add(.init(role: "d", scope: .paths(["*"]), keys: a), from: "a")
        repository.add(.init(role: "d", scope: .paths(["*"]), keys: b), from: "b")
        repository.keys["d"] = [signer]
        repository.list("f", by: "d")
        try repository.publishAll()
        return repository
    }

    @Test func eachDelegatorDecidesWhichKeysCount() async throws {
        let (good, other) = (SigningKey(), SigningKey())
        // The first delegation is searched first, and its refusal is final.
        var repository = try diamond(a: [other], b: [good], signer: good, paths: ["*"])
        var tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.map(\.role) == ["d"])
        #expect(tree.refusals.first?.error.problem.contains("keys in the role a ") == true)
        #expect(throws: VaultError.self) { try tree.record(at: "f") }
        #expect(tree.records.map(\.path) == ["packs/a.avpack"])
        // If it is not for this path, the second one decides.
        repository = try diamond(a: [other], b: [good], signer: good, paths: ["x"])
        tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.count == 1)
        #expect(try tree.record(at: "f")?.author == "d")
        #expect(tree.records.map(\.path) == ["f", "packs/a.avpack"])
        // In the other order the second one is not searched.
        repository = try diamond(a: [good], b: [other], signer: good, paths: ["*"])
        tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.first?.error.problem.contains("keys in the role b ") == true)
        #expect(try tree.record(at: "f")?.author == "d")
        let client = try await TestClient.trusting(repository)
        #expect(try await client.target(at: "f", in: repository.source)?.author == "d")
    }

    @Test func recordOfSeveralRolesIsListedOnce() async throws {
        var repository = try Repository()
        let record = TargetRecord.of("f", by: .targets)
        for role in ["a", "b", "c"] as [MetadataRole] {
            repository.delegate(to: role)
            repository.listings[role] = [record]
        }
        repository.delegate(from: "a", to: "c")
        repository.list("g", by: "c")
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(tree.records.map(\.path) == ["f", "g", "packs/a.avpack"])
        #expect(tree.delegatedRoles.map(\.document.role) == ["a", "b", "c"])
        repository.records.append(record)
        try repository.publish(.targets, .snapshot, .timestamp)
        #expect(
            try await TestClient.tree(of: repository).records.map(\.path) == ["f", "g", "packs/a.avpack"])
    }

    @Test func pathsAreComparedByBytes() async throws {
        var repository = try Repository()
        repository.delegate(to: "a")
        repository.delegate(to: "b")
        repository.list("e\u{301}", by: "a")
        repository.list("\u{E9}", by: "b")
        try repository.publishAll()
        let tree = try await TestClient.tree(of: repository)
        #expect(try tree.record(at: "e\u{301}")?.author == "a")
        #expect(try tree.record(at: "\u{E9}")?.author == "b")
        #expect(tree.records.count == 3)
    }

    /// A role below a refused one is not read; one beside it is.
    @Test func refusedRoleHidesItsDelegations() async throws {
        var repository = try Repository()
        repository.delegate(["a/*"], to: "a")
        repository.delegate(["b/*"], to: "b")
        repository.delegate(["a/*"], from: "a", to: "below")
        repository.list("a/1", by: "below")
        repository.list("b/1", by: "b")
        repository.signers["a"] = []
        try repository.publishAll()
        let source = repository.source
        let tree = try await TargetTree.verifying(source, pinnedRoot: nil, now: Repository.now)
        #expect(tree.refusals.map(\.role) == ["a"])
        #expect(tree.records.map(\.path) == ["b/1", "packs/a.avpack"])
        #expect(!source.requests.contains("1.below.json"))
    }

    /// 32,768 roles are read: twelve that delegate to bins, and their bins, which the host does not have.
    @Test(arguments: [false, true])
    func numberOfRolesIsLimited(_ isOneMore: Bool) async throws {
        var repository = try Repository()
        for bits in [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] {
            let role = MetadataRole(stringLiteral: "packs-\(bits)")
            repository.delegate(to: role)
            repository.delegateToBins(from: role, bitLength: bits, namePrefix: "bin-\(bits)")
        }
        if isOneMore { repository.delegate(to: .team) }
        try repository.publishAll()
        guard isOneMore else {
            let tree = try await TestClient.tree(of: repository)
            #expect(tree.delegatedRoles.count == 12)
            #expect(tree.refusals.count == 32_768 - 12)
            return
        }
        await expectRefusal(saying: "more than 32768 roles") { try await TestClient.tree(of: repository) }
    }
}
