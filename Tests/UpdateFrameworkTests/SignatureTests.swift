import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

@Suite struct SignatureTests {
    @Test(arguments: MetadataRole.belowRoot, 0..<3)
    func wrongKeysAreRefused(_ role: MetadataRole, _ kind: Int) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        var forged = repository
        // Another role's keys are wrong, too.
        forged.signers[role] = [[SigningKey()], [], repository.keys[.root] ?? []][kind]
        try forged.release("packs/b.avpack")
        await client.expectRefusal(
            of: forged.source, at: role.hostedName(version: 2), saying: "0 valid signatures",
            leaving: .kept(refusing: role))
        repository.versions[.timestamp] = 2
        try repository.release("packs/b.avpack")
        try await client.refresh(repository.source)
    }

    @Test(arguments: MetadataRole.belowRoot)
    func thresholdMustBeMet(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let keys = (0..<3).map { _ in SigningKey() }
        repository.keys[role] = keys
        repository.thresholds[role] = 2
        repository.versions = [:]
        try repository.publish(.root, .targets, .snapshot, .timestamp)
        let client = try await TestClient.trusting(repository)
        var short = repository
        short.signers[role] = [keys[1]]
        try short.release("packs/b.avpack")
        await client.expectRefusal(
            of: short.source, at: role.hostedName(version: 2),
            saying: "1 valid signatures of the \(role.name) keys in root version 1 where 2 are needed",
            leaving: .kept(refusing: role))
        repository.signers[role] = [keys[2], keys[0]]
        repository.versions[.timestamp] = 2
        try repository.release("packs/b.avpack")
        try await client.refresh(repository.source)
    }

    @Test func keyWithTwoIDsCountsOnce() async throws {
        var repository = try Repository()
        let key = try #require(repository.keys[.timestamp]?.first)
        let name = key.id
        repository.thresholds[.timestamp] = 1
        repository.amend[.root] = { root in
            try root.change("keys") { $0["alias"] = $0[name] }
            try root.change("roles") {
                $0["timestamp"] = ["keyids": [.string(name), "alias"], "threshold": 2]
            }
        }
        try repository.put(.root)
        var envelope = try repository.json("timestamp.json")
        let signatures = try envelope.array("signatures", at: "test")
        var alias = try #require(signatures.first).asObject(at: "test")
        alias["keyid"] = "alias"
        envelope["signatures"] = .array(signatures + [.object(alias)])
        repository.files["timestamp.json"] = JSONValue.object(envelope).pretty()
        let client = TestClient()
        try await client.store.pin(repository.firstRoot)
        await client.expectRefusal(
            of: repository.source, at: "timestamp.json", saying: "1 valid signatures", leaving: [.root: 1])
    }

    @Test func keyIDsThatAreNotHashesAreOnlyLabels() async throws {
        var repository = try Repository()
        let name = try #require(repository.keys[.timestamp]?.first).id
        repository.amend[.root] = { try $0.change("keys", name) { $0["x-owner"] = "somebody" } }
        try repository.put(.root)
        try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
    }

    @Test func twoSignaturesUnderOneKeyIDAreRefused() async throws {
        var repository = try Repository()
        let key = try #require(repository.keys[.timestamp]?.first)
        repository.signers[.timestamp] = [key, key]
        try repository.put(.timestamp)
        let client = TestClient()
        try await client.store.pin(repository.firstRoot)
        await client.expectRefusal(
            of: repository.source, at: "timestamp.json", saying: "two signatures have the key ID",
            leaving: [.root: 1])
    }

    @Test func unsupportedKeysAreIgnored() async throws {
        var repository = try Repository()
        repository.amend[.root] = { root in
            try root.change("keys") { keys in
                keys["ec"] = [
                    "keytype": "ecdsa", "scheme": "ecdsa-sha2-nistp256", "keyval": ["public": "PEM"],
                ]
                keys["odd"] = ["keytype": "ed25519", "scheme": "ed25519", "keyval": ["public": "12"]]
            }
            try root.change("roles", "timestamp") {
                $0["keyids"] = .array(try $0.array("keyids", at: "test") + ["ec", "odd", "missing"])
            }
        }
        try repository.put(.root)
        let chain = try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
        #expect(
            chain.root.trust(in: .timestamp).keys.map(\.key.ed25519)
                == repository.keys[.timestamp]?.map(\.publicKey))
    }

    @Test func invalidSignaturesBesideValidOnesAreIgnored() async throws {
        var repository = try Repository()
        let good = try #require(repository.keys[.timestamp])
        repository.keys[.timestamp] = good + [SigningKey(), SigningKey()]
        try repository.put(.root)
        for text in ["", "zz", "00", String(repeating: "0", count: 128)] {
            var envelope = try repository.json("timestamp.json")
            let extra = (repository.keys[.timestamp] ?? []).dropFirst().map { key -> JSONValue in
                ["keyid": .string(key.id), "sig": .string(text)]
            }
            let signatures = try envelope.array("signatures", at: "test").suffix(1)
            envelope["signatures"] = .array(extra + signatures)
            repository.files["timestamp.json"] = JSONValue.object(envelope).pretty()
            try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
        }
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func signaturesOverOtherContentAreRefused(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let original = repository
        try repository.publishSecond(role)
        // The same signatures, other content.
        var other = repository
        other.expiries[role] = UTCTime("2027-03-01T00:00:00Z")
        let name = role.hostedName(version: 2)
        let served = try repository.json(name)
        var forged = served
        forged["signed"] = .object(try other.draft(role).signed)
        for reference in [false, true] where role != .root || !reference {
            var files = repository.files
            files[name] = JSONValue.object(forged).pretty()
            if reference { files = try relisted(repository, role, files[name] ?? []) }
            let client = try await TestClient.trusting(original)
            await client.expectRefusal(
                of: MemorySource(files), at: name,
                saying: reference || role == .root || role == .timestamp
                    ? "0 valid signatures" : "but the signed", leaving: .kept(refusing: role))
        }
    }

    /// The files with this role's bytes listed above, so that only the signature is wrong.
    private func relisted(
        _ repository: Repository, _ role: MetadataRole, _ bytes: [UInt8]
    ) throws -> [String: [UInt8]] {
        var repository = repository
        repository.files[role.hostedName(version: 2)] = bytes
        if role == .targets { try repository.put(.snapshot) }
        if role != .timestamp { try repository.put(.timestamp) }
        return repository.files
    }
}
