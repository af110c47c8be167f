import Testing
import UpdateFramework
import VaultErrors

/// A root that an app ships beside a store, compared without the network.
@Suite struct GivenRootTests {
    private let client: TestClient
    /// At root 2, as the store; then at 3, 4 and 5.
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

    /// Whether the root agrees with the stored one, with or without what the site has between them.
    private func agrees(_ root: [UInt8], from source: MemorySource = MemorySource([:])) async throws -> Bool {
        do throws(VaultError) {
            try await client.store.requireStoredRoot(agreeingWith: root, from: source)
            return true
        } catch {
            #expect(error.category == .untrusted)
            return false
        }
    }

    @Test(arguments: 1...5) func rootsOfTheSite(version: Int) async throws {
        let root = try root(version, of: repository)
        #expect(try await agrees(root))
        #expect(try await agrees(root, from: repository.source))
        #expect(client.versions[.root] == 2)
    }

    /// Another site's root is refused where anything can be compared: only across a gap nothing can.
    @Test(arguments: [(1, false), (2, false), (3, false), (4, true), (5, true)])
    func rootsOfAnotherSite(version: Int, agreesAcrossAGap: Bool) async throws {
        var other = try Repository()
        for _ in 2...5 { try other.publish(.root) }
        let root = try root(version, of: other)
        #expect(try await agrees(root) == agreesAcrossAGap)
        #expect(try await !agrees(root, from: repository.source))
        // What a source has between them is believed by its signatures alone.
        #expect(try await agrees(root, from: other.source) == agreesAcrossAGap)
    }

    /// The site's own roots count whatever an untrusted source has.
    @Test func aSourceContradictsNobody() async throws {
        var other = try Repository()
        for _ in 2...5 { try other.publish(.root) }
        #expect(try await agrees(root(5, of: repository), from: other.source))
    }

    /// Metadata under an older root than the given one are not taken over: keys may have been revoked since.
    @Test(arguments: [true, false]) func adoptionUnderAnOlderRoot(revokes: Bool) async throws {
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
        // Across a gap nothing says which keys count.
        try site.publish(.root)
        try site.publish(.root)
        let versions = client.versions
        await #expect(throws: VaultError.self) {
            try await client.store.adopt(downloader.store, trusting: root(5, of: site))
        }
        #expect(client.versions == versions)
    }
}
