import Testing
import VaultBase

@testable import UpdateFramework

/// An adoption of another store's metadata that was interrupted.
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

    @Test func nextProcessCompletesTheAdoption() async throws {
        #expect(try await client.store.storedChain().timestamp.version == 2)
        #expect(try !adopted.exists)
        #expect(client.versions[.timestamp] == 2)
    }

    /// A refresh from a host came before its completion.
    @Test mutating func supersededAdoptionIsRemoved() async throws {
        try repository.release("packs/c.avpack")
        try await client.refresh(repository.source)
        #expect(try await client.store.storedChain().timestamp.version == 3)
        #expect(try !adopted.exists)
    }
}
