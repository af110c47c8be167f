import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

/// Metadata with valid signatures and invalid roles, files or targets.
@Suite struct MetadataEntryTests {
    typealias Change = @Sendable (inout JSONObject) -> Void

    @Test func rootsNeedAllRolesWithThresholds() async throws {
        for role in MetadataRole.allTopLevel {
            try await changeRoles(saying: "\"\(role.name)\" is missing") { $0[role.name] = nil }
            try await changeRoles(saying: "below 1") { $0[role.name] = ["keyids": [], "threshold": 0] }
            try await changeRoles(saying: "below 1") { $0[role.name] = ["keyids": [], "threshold": -1] }
            try await changeRoles(saying: "not an integer") {
                $0[role.name] = ["keyids": [], "threshold": "1"]
            }
            try await changeRoles(saying: "twice") {
                $0[role.name] = ["keyids": ["a", "a"], "threshold": 1]
            }
            try await changeRoles(saying: "expected a string") {
                $0[role.name] = ["keyids": [1], "threshold": 1]
            }
        }
    }

    private func changeRoles(
        saying text: String, sourceLocation: SourceLocation = #_sourceLocation, _ change: @escaping Change
    ) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.amend[.root] = { try $0.change("roles", by: change) }
        try repository.publish(.root)
        await client.expectRefusal(
            of: repository.source, at: "2.root.json", saying: text,
            leaving: .init(root: 1, timestamp: 1, snapshot: 1, targets: 1), sourceLocation: sourceLocation)
    }

    @Test func listedFilesNeedVersionsAndGoodHashes() async throws {
        for (role, name) in [(MetadataRole.timestamp, "snapshot.json"), (.snapshot, "targets.json")] {
            let cases: [(JSONValue, String)] = [
                (["length": 1], "\"version\" is missing"), (["version": 0], "below 1"),
                (["version": "1"], "not an integer"),
                (["version": 2, "length": -1], "below 0"), (["version": 2, "length": "5"], "not an integer"),
                (["version": 2, "hashes": []], "not an object"),
                (["version": 2, "hashes": [:]], "it has no hash"),
                (["version": 2, "hashes": ["sha256": "AB"]], "64 lowercase"), ([], "object"),
            ]
            for (value, text) in cases {
                try await expectRefusalOfEntry(role, text) { $0["meta"] = .object([name: value]) }
            }
            try await expectRefusalOfEntry(role, "\"\(name)\" is missing") { $0["meta"] = [:] }
        }
    }

    @Test func targetsNeedLengthsAndGoodHashes() async throws {
        let hash = JSONValue.string(SHA256.hash([1].span).hex)
        let cases: [(JSONValue, String)] = [
            (["hashes": ["sha256": hash]], "\"length\" is missing"), (["length": 1], "\"hashes\" is missing"),
            (["length": -1, "hashes": ["sha256": hash]], "below 0"),
            (["length": "1", "hashes": ["sha256": hash]], "not an integer"),
            (["length": 1, "hashes": [:]], "it has no hash"),
            (["length": 1, "hashes": ["sha256": hash, "sha512": hash]], "128 lowercase"),
            (["length": 1, "hashes": ["sha256": "00"]], "64 lowercase"),
            (["length": 1, "hashes": ["sha256": hash], "custom": 1], "not an object"),
            (1, "expected an object"),
        ]
        for (value, text) in cases {
            try await expectRefusalOfEntry(.targets, text) { $0["targets"] = ["p": value] }
        }
    }

    private func expectRefusalOfEntry(_ role: MetadataRole, _ text: String, _ change: @escaping Change)
        async throws
    {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        repository.amend[role] = change
        try repository.release("packs/b.avpack")
        await client.expectRefusal(
            of: repository.source, at: "", saying: text, leaving: SignatureTests.kept(refusing: role))
    }
}
