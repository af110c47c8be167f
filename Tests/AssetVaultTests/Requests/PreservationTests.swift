import SealedPack
import Testing

@testable import AssetVault

/// What goes first when disk space is needed.
@Suite(.timeLimit(.minutes(5))) struct PreservationTests {
    let world: World
    let client: VaultClient

    init() async throws {
        world = try await World.withLevels()
        client = try world.client()
        for level in 1...4 {
            let request = ResourceRequest(tags: ["level\(level)"], of: client)
            try await request.beginAccessing()
            request.endAccessing()
        }
    }

    private var store: StoreAccess { StoreAccess(layout: world.layout, role: .app) }

    private func order() throws -> [String] { try world.layout.purgeOrder() }

    @Test func lowPrioritiesGoFirst() async throws {
        #expect(try await client.store.preservationPriority(forTag: "level2") == 0.5)
        try await client.store.setPreservationPriority(0.25, forTags: ["level4"])
        try await client.store.setPreservationPriority(0.9, forTags: ["level2"])
        #expect(try await client.store.preservationPriority(forTag: "level4") == 0.25)
        // The texture has the tags of two levels: the higher one counts.
        #expect(try order() == ["level4", "level3", "level2", "level2.level3"])
        // Another process reads the same.
        let other = VaultStore(world.layout)
        #expect(try await other.preservationPriority(forTag: "level2") == 0.9)
        for priority in [-0.1, 1.1, .nan] {
            #expect(
                await category {
                    try await other.setPreservationPriority(priority, forTags: ["level2"])
                } == .usage)
        }
    }

    @Test func keptPacksStay() async throws {
        try await client.store.keep(try PackID("game/level3"))
        #expect(try !order().contains("level3"))
        try await client.store.declarePurgeable(try PackID("game/level3"))
        #expect(try order().contains("level3"))
        #expect(try !order().contains("level1"))
    }

    /// What was purged comes back with the next request.
    @Test func purgedPacksComeBack() async throws {
        let needed = store.layout.permanent
        var space = DiskSpace(store: store)
        space.reserve = .max / 2
        #expect(await category { try await space.make(for: 1, of: try PackID("x"), in: needed) } == .diskFull)
        #expect(try order().count == 4)
        for id in try order() { try await store.removal.remove(try PackID("game/" + id), .asked) }
        #expect(try order() == [])
        let request = ResourceRequest(tags: ["level2"], of: client)
        #expect(try await request.conditionallyBeginAccessing() == false)
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("levels/2/map")) == World.map(2))
    }
}
