import Testing
import UpdateFramework
import VaultBase
import VaultCrypto

@Suite struct MixTests {
    @Test(arguments: [.snapshot, .targets] as [MetadataRole])
    func aFileOfAnotherReleaseIsRefused(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        var branch = repository
        try repository.release("packs/b.avpack")
        try branch.release("packs/c.avpack")
        let name = role.hostedName(version: 2)
        var files = repository.files
        files[name] = branch.files[name]
        await client.expectRefusal(
            of: MemorySource(files), at: name, saying: "but the signed",
            leaving: .kept(refusing: role))
        try await client.refresh(repository.source)
    }

    @Test func aFileOfAnotherReleaseWithoutLengthAndHashIsRefusedByItsVersion() async throws {
        var repository = try Repository()
        for (role, name) in [(MetadataRole.timestamp, "snapshot.json"), (.snapshot, "targets.json")] {
            repository.amend[role] = { $0["meta"] = [name: ["version": 2]] }
        }
        try repository.release("packs/b.avpack")
        for role in [MetadataRole.snapshot, .targets] {
            var files = repository.files
            files[role.hostedName(version: 2)] = files[role.hostedName(version: 1)]
            let client = TestClient()
            try await client.store.pin(repository.firstRoot)
            await client.expectRefusal(
                of: MemorySource(files), at: role.hostedName(version: 2), saying: "version is 1 where",
                leaving: role == .snapshot
                    ? [.root: 1, .timestamp: 2] : [.root: 1, .timestamp: 2, .snapshot: 2])
        }
        // Without them only the signatures are checked.
        try await TestClient().refresh(repository.source, trusting: repository.firstRoot)
    }

    @Test(arguments: [.snapshot, .targets] as [MetadataRole])
    func hashesAreCheckedBeforeAnythingIsParsed(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        let name = role.hostedName(version: 2)
        repository.files[name] = repository.files[name]?.map { _ in 0x7B }
        await client.expectRefusal(
            of: repository.source, at: name, saying: "but the signed",
            leaving: .kept(refusing: role))
    }

    @Test(arguments: MetadataRole.allTopLevel)
    func oversizedMetadataIsRefused(_ role: MetadataRole) async throws {
        var repository = try Repository()
        let client = try await TestClient.trusting(repository)
        try repository.publishSecond(role)
        let name = role.hostedName(version: 2)
        let limit =
            [.snapshot, .targets].contains(role) ? repository.files[name]?.count ?? 0 : role.sizeLimit
        repository.files[name, default: []].append(contentsOf: [UInt8](repeating: 0x20, count: limit))
        await client.expectRefusal(
            of: repository.source, at: name, saying: "more than \(limit) bytes",
            leaving: .kept(refusing: role))
    }

    @Test func signedLengthOverTheLimitIsNotRequested() async throws {
        var repository = try Repository()
        repository.amend[.timestamp] = {
            $0["meta"] = ["snapshot.json": ["version": 1, "length": 9_007_199_254_740_991]]
        }
        try repository.put(.timestamp)
        let chain = try? await TestClient().refresh(repository.source, trusting: repository.firstRoot)
        #expect(chain == nil)
        let reference = try #require(
            try? VerifiedTimestamp(
                verifying: UnverifiedMetadata(
                    parsing: repository.files["timestamp.json"] ?? [], as: .timestamp, place: "test"),
                under: VerifiedRoot(
                    pinning: UnverifiedMetadata(parsing: repository.firstRoot, as: .root, place: "test"))))
        #expect(reference.snapshot.length == 9_007_199_254_740_991)
    }

    @Test func unsupportedHashesAreNotEnough() async throws {
        var repository = try Repository()
        repository.amend[.timestamp] = {
            $0["meta"] = ["snapshot.json": ["version": 1, "hashes": ["blake2b-256": "00"]]]
        }
        try repository.put(.timestamp)
        let client = TestClient()
        try await client.store.pin(repository.firstRoot)
        await client.expectRefusal(
            of: repository.source, at: "1.snapshot.json", saying: "it has no hash of a supported algorithm",
            leaving: [.root: 1, .timestamp: 1])
    }
}
