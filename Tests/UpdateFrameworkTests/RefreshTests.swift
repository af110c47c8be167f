import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

@Suite struct RefreshTests {
    @Test func firstRefreshTrustsTheWholeChain() async throws {
        let repository = try Repository()
        let client = TestClient()
        let source = repository.source
        let chain = try await client.refresh(source, trusting: repository.firstRoot)
        #expect(source.requests == ["2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"])
        #expect(chain.versions == .first)
        #expect(chain.targets.records == repository.records)
        #expect(client.versions == chain.versions)
        #expect(try client.store.pinDigest() == chain.root.digest)
    }

    @Test func refreshWithoutChangesSendsTwoRequests() async throws {
        let repository = try Repository()
        let client = try await TestClient.trusting(repository)
        let source = repository.source
        let chain = try await client.refresh(source)
        #expect(source.requests == ["2.root.json", "timestamp.json"])
        #expect(chain.targets.records == repository.records)
    }

    @Test func newVersionsReplaceOldOnes() async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        let chain = try await client.refresh(repository.source)
        #expect(chain.versions == .init(root: 1, timestamp: 2, snapshot: 2, targets: 2))
        #expect(chain.targets["packs/b.avpack"]?.length == 1)
        #expect(client.versions == chain.versions)
    }

    @Test func storedFilesAreTheReceivedBytes() async throws {
        var repository = try Repository()
        repository.files["timestamp.json", default: []].append(contentsOf: " \n ".utf8)
        let client = try await TestClient.trusting(repository)
        #expect(client.bytes("timestamp.json") == repository.files["timestamp.json"])
        #expect(client.bytes("targets.json") == repository.files["1.targets.json"])
        #expect(
            client.fileNames == [
                "lock", "root.json", "root_history", "snapshot.json", "targets.json", "timestamp.json",
            ])
    }

    @Test func unknownMembersAreSignedAndKept() async throws {
        var repository = try Repository()
        repository.amend[.targets] = { $0["x-extra"] = ["a": [1, .null, "é\u{1}"]] }
        repository.amend[.root] = { root in
            root["x-extra"] = "r"
            try root.change("roles") { $0["mirrors"] = ["keyids": [], "threshold": 1] }
        }
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        let chain = try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
        #expect(chain.targets.json["x-extra"] == ["a": [1, .null, "é\u{1}"]])
        #expect(chain.root.json["x-extra"] == "r")
        #expect(chain.timestamp.json["x-note"] == "kept")
    }

    @Test func targetsAreFoundByExactBytes() async throws {
        var repository = try Repository()
        try repository.release("packs/e\u{301}")
        let chain = try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
        let record = try #require(chain.targets["packs/e\u{301}"])
        #expect(chain.targets["packs/\u{E9}"] == nil)
        #expect(chain.targets["packs"] == nil)
        let name = chain.hostedPath(of: record)
        let hash = try #require(record.hashes.sha256)
        #expect(name.utf8.elementsEqual("packs/\(hash.hex).e\u{301}".utf8))
    }

    /// A file that can't be read, or is missing: a root may be missing.
    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json", "2.root.json"])
    func aFailingHostIsUnavailableAndKeepsTheStore(_ name: String) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        await client.expectRefusal(
            of: MemorySource(repository.files, failing: [name]), as: .unavailable, at: name)
        var files = repository.files
        files[name] = nil
        if name != "2.root.json" {
            await client.expectRefusal(of: MemorySource(files), as: .unavailable, at: name)
        }
        #expect(try await client.refresh(repository.source).targets["packs/b.avpack"] != nil)
    }
}
