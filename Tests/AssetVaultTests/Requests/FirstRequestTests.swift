import Testing
import VaultFileSystem

@testable import AssetVault

/// The first request of a store, after an earlier one that was killed while it pinned the site's root.
@Suite(.timeLimit(.minutes(5))) struct FirstRequestTests {
    /// The history of roots is written before the root itself.
    @Test func theRootWasHalfPinned() async throws {
        let world = try await World.withLevels()
        try await world.client().refresh()
        let trust = world.layout.trust(of: .app)
        for name in ["root.json", "timestamp.json", "snapshot.json", "targets.json"] {
            try FileSystem.removeFile(trust.appending(name))
        }
        #expect(try FileSystem.exists(trust.pushing("root_history/1.root.json")))
        let client = try world.client()
        let request = ResourceRequest(tags: ["level2"], of: client)
        #expect(try await request.conditionallyBeginAccessing() == false)
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("levels/2/map")) == World.map(2))
    }
}
