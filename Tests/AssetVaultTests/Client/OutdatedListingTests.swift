import SealedPack
import Testing
import VaultAuthoring
import VaultFileSystem

@testable import AssetVault

/// A client that read the site's metadata before others did, or before the host replaced its files.
@Suite(.timeLimit(.minutes(5))) struct OutdatedListingTests {
    let world: World
    /// Knows the first versions.
    let client: VaultClient
    private let extras = PackID.extras

    init() async throws {
        world = try await World.withPacks()
        try await world.tag(["extras": ["extras"]])
        client = try world.client()
        try await client.refresh()
    }

    private func access() async throws {
        let request = ResourceRequest(tags: ["extras"], of: client)
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("noise")) == World.one)
    }

    /// What the client does, by ID and by tag.
    private var ways: [@Sendable () async throws -> Void] {
        [
            { try await client.ensureLocalAvailability(of: extras) },
            { try await access() },
        ]
    }

    @Test(arguments: 0..<2) func theHostReplacedTheFile(way: Int) async throws {
        let old = try await client.pack(withID: extras)
        try await world.publish(["noise": World.one], as: "extras")
        let file = world.place.vault.site.pushing(
            FilePath("targets/packs/\(old.sha256.hex).extras.avpack"))
        try FileSystem.removeFile(file)
        try await ways[way]()
        #expect(try await client.store.status(of: extras).loadedVersion == 2)
    }

    /// Another process staged a newer version, which was purged since: the older one does not come back.
    @Test(arguments: 0..<2) func anotherProcessKnowsNewerMetadata(way: Int) async throws {
        try await world.publish(["noise": World.one], as: "extras")
        let other = try world.client()
        try await other.ensureLocalAvailability(of: extras)
        try await other.store.declarePurgeable(extras)
        #expect(try await other.store.purge(until: nil).map(\.id) == [extras])
        try await ways[way]()
        #expect(try await client.store.status(of: extras).loadedVersion == 2)
    }
}
