import Testing
import VaultErrors

@testable import UpdateFramework

/// Metadata of another store that a process was adopting when it died.
@Suite struct AdoptionTests {
    private var repository: Repository
    private let client: TestClient
    private let adopted: AdoptedMetadata

    init() async throws {
        repository = try Repository()
        client = try await TestClient.trusting(repository)
        try repository.release("packs/b.avpack")
        let read = RecordingMetadataSource(repository.source, trusting: nil)
        _ = try await TestClient().store.refresh(
            from: read, trusting: repository.firstRoot, now: Repository.now)
        adopted = AdoptedMetadata(below: client.store.folder)
        try adopted.write(read, permissions: 0o755)
    }

    @Test func theNextProcessCompletesIt() async throws {
        #expect(try await client.store.storedChain().timestamp.version == 2)
        #expect(try !adopted.isThere)
        #expect(client.versions[.timestamp] == 2)
    }

    /// A host was asked before anyone completed it.
    @Test mutating func aSupersededOneIsRemoved() async throws {
        try repository.release("packs/c.avpack")
        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().timestamp.version == 3)
        #expect(try !adopted.isThere)
    }
}
