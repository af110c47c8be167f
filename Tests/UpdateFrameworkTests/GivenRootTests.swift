import Testing
import UpdateFramework
import VaultBase

/// An app's own root, compared with the stored one without the network.
@Suite struct GivenRootTests {
    private let client: TestClient
    /// Root 2, as in the store; then 3, 4 and 5.
    private var repository: Repository
    private let own: Repository

    init() async throws {
        repository = try Repository()
        client = try await TestClient.trusting(repository)
        try repository.publish(.root)
        try await client.refresh(repository.source)
        own = repository
        for _ in 3...5 { try repository.publish(.root) }
    }

    private func root(_ version: Int, of repository: Repository) throws -> [UInt8] {
        try #require(repository.files["\(version).root.json"])
    }

    /// Whether the root agrees with the stored one, given the site's roots in between or not.
    private func agrees(_ root: [UInt8], from source: MemorySource = MemorySource([:])) async throws -> Bool {
        do throws(VaultError) {
            try await client.store.requireStoredRoot(agreeingWith: root, from: source)
            return true
        } catch {
            #expect(error.category == .untrusted)
            return false
        }
    }

    @Test(arguments: 1...5) func acceptsRootsOfTheSite(version: Int) async throws {
        let root = try root(version, of: repository)
        #expect(try await agrees(root))
        #expect(try await agrees(root, from: repository.source))
        #expect(client.versions[.root] == 2)
    }

    /// Another site's root is refused unless roots in between are missing.
    @Test(arguments: [(1, false), (2, false), (3, false), (4, true), (5, true)])
    func refusesRootsOfAnotherSite(version: Int, agreesAcrossAGap: Bool) async throws {
        var other = try Repository()
        for _ in 2...5 { try other.publish(.root) }
        let root = try root(version, of: other)
        #expect(try await agrees(root) == agreesAcrossAGap)
        #expect(try await !agrees(root, from: repository.source))
        // Roots from a source count by their signatures only.
        #expect(try await agrees(root, from: other.source) == agreesAcrossAGap)
    }

    /// The site's roots are accepted whatever an untrusted source has.
    @Test func ignoresInvalidRootsOfASource() async throws {
        var other = try Repository()
        for _ in 2...5 { try other.publish(.root) }
        #expect(try await agrees(root(5, of: repository), from: other.source))
    }

    /// Metadata under a root older than the given one is not adopted: keys may have been revoked since.
    @Test(arguments: [true, false]) func refusesAdoptionUnderAnOlderRoot(revokes: Bool) async throws {
        var site = own
        try site.release("packs/new.avpack")
        let downloader = TestClient()
        try await downloader.refresh(site.source, trusting: site.firstRoot)
        if revokes {
            site.signers[.root] = site.keys[.root]
            site.keys[.targets] = [SigningKey()]
        }
        try site.publish(.root)
        let given = try root(3, of: site)
        let before = client.versions
        do throws(VaultError) {
            try await client.store.adopt(downloader.store, trusting: given)
            #expect(!revokes)
            #expect(client.versions == .init(root: 3, timestamp: 2, snapshot: 2, targets: 2))
        } catch {
            #expect(revokes && error.category == .untrusted)
            #expect(client.versions == before)
        }
        // With missing roots the valid keys are unknown.
        try site.publish(.root)
        try site.publish(.root)
        let versions = client.versions
        await #expect(throws: VaultError.self) {
            try await client.store.adopt(downloader.store, trusting: root(5, of: site))
        }
        #expect(client.versions == versions)
    }
}
