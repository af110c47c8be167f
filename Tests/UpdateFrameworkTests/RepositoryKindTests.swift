import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

/// Options of a repository: names of files, kinds of hashes.
@Suite struct RepositoryKindTests {
    private func inconsistent() throws -> Repository {
        var repository = try Repository()
        repository.usesConsistentSnapshots = false
        repository.files = [:]
        try repository.put(.root)
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        try repository.publishAll()
        return repository
    }

    @Test func aRepositoryWithoutConsistentSnapshotsIsRead() async throws {
        var repository = try inconsistent()
        #expect(
            repository.files.keys.sorted() == [
                "1.root.json", "snapshot.json", "targets.json", "team.json", "timestamp.json",
            ])
        let client = try await TestClient.trusting(repository)
        let chain = try await client.refresh(repository.source)
        #expect(chain.hostedPath(of: repository.records[0]) == "packs/a.avpack")
        #expect(try await client.target(at: "levels/one", in: repository.source)?.author == "team")
        repository.list("levels/two", by: .team)
        try repository.publishAll()
        #expect(try await client.tree(repository.source).records.count == 3)
    }

    @Test(arguments: ["snapshot.json", "targets.json", "team.json"])
    func aFileThatWasNotReplacedIsRefusedWithoutConsistentSnapshots(_ name: String) async throws {
        var repository = try inconsistent()
        let client = try await TestClient.trusting(repository)
        _ = try await client.tree(repository.source)
        let old = repository.files[name]
        repository.list("levels/two", by: .team)
        repository.list("packs/two")
        try repository.publishAll()
        repository.files[name] = old
        let source = repository.source
        await expectRefusal(at: name) { try await client.target(at: "levels/two", in: source) }
        #expect(client.bytes(name) == old)
    }

    @Test(arguments: [false, true])
    func acceptsSHA512Alone(_ isTampered: Bool) async throws {
        var repository = try Repository()
        repository.hashes = { FileHashes(sha256: nil, sha512: SHA512.hash($0.span)) }
        repository.delegate(["levels/*"], to: .team)
        repository.list("levels/one", by: .team)
        try repository.publishAll()
        let listed = try repository.json("2.snapshot.json").object("signed", at: "").object("meta", at: "")
        #expect(try listed.object("team.json", at: "").object("hashes", at: "").keys == ["sha512"])
        if isTampered { repository.files["1.team.json"]?[0] = 0x20 }
        let tree = try await TestClient.tree(of: repository)
        #expect(tree.refusals.count == (isTampered ? 1 : 0))
        #expect(tree.refusals.allSatisfy { $0.error.problem.contains("its SHA-512 is") })
        guard !isTampered else { return }
        for name in ["2.snapshot.json", "2.targets.json"] {
            var files = repository.files
            files[name]?[0] = 0x20
            await TestClient().expectRefusal(
                of: MemorySource(files), trusting: repository.firstRoot, saying: "its SHA-512 is")
        }
    }

    @Test func bothHashesMustHold() async throws {
        for wrong in ["sha256", "sha512"] {
            var repository = try Repository()
            repository.hashes = {
                FileHashes(
                    sha256: SHA256.hash((wrong == "sha256" ? $0 + [0] : $0).span),
                    sha512: SHA512.hash((wrong == "sha512" ? $0 + [0] : $0).span))
            }
            try repository.release("packs/b.avpack")
            await TestClient().expectRefusal(
                of: repository.source, trusting: repository.firstRoot,
                saying: wrong == "sha256" ? "its SHA-256" : "its SHA-512")
        }
    }

    @Test func targetsAreCheckedByLengthAndSupportedHashes() async throws {
        let content: [UInt8] = [1, 2, 3]
        let sha256 = JSONValue.string(SHA256.hash(content.span).hex)
        let sha512 = JSONValue.string(SHA512.hash(content.span).hex)
        for hashes in [["sha256": sha256], ["sha512": sha512], ["md5": "0", "sha512": sha512]] as [JSONObject]
        {
            let record = try TargetRecord(path: "a/b", json: ["length": 3, "hashes": .object(hashes)])
            try record.check(content)
            #expect(throws: VaultError.self) { try record.check([1, 2, 4]) }
            #expect(throws: VaultError.self) { try record.check([1, 2]) }
        }
        let unknown = try TargetRecord(path: "a/b", json: ["length": 3, "hashes": ["md5": "0"]])
        await expectRefusal(saying: "it has no hash of a supported algorithm") { try unknown.check(content) }
        let name = try TargetRecord(path: "a/b", json: ["length": 3, "hashes": ["sha512": sha512]]).hostedPath
        #expect(name == "a/\(SHA512.hash(content.span).hex).b")
    }
}
