import SealedPack
import Testing

@testable import AssetVault

/// Which packs are removed first when space is needed.
@Suite(.timeLimit(.minutes(5))) struct PurgeOrderTests {
    /// Packs that were read are removed after packs that were never read, and an update keeps the order.
    @Test func leastRecentlyReadPacksAreRemovedFirst() async throws {
        let world = try await World()
        let file = try EntryPath("file")
        for id in ["a", "b", "c"] { try await world.publish(["file": [1]], as: id) }
        let client = try await world.fetched(.opened)
        let ids = try ["a", "b", "c", "d"].map { text in try PackID(text) }
        for id in ids.dropLast() { try await client.store.declarePurgeable(id) }
        #expect(try world.layout.purgeOrder() == ["a", "b", "c"])
        _ = try await client.store.contents(of: file, in: ids[0])
        #expect(try world.layout.purgeOrder() == ["b", "c", "a"])
        try await world.publish(["file": [2]], as: "a")
        try await world.publish(["file": [1]], as: "d")
        _ = try await client.fetch()
        try await client.store.declarePurgeable(ids[3])
        #expect(try world.layout.purgeOrder() == ["b", "c", "d", "a"])
        // Not while somebody reads it.
        let lease = try await client.store.held(ids[1])
        #expect(try world.layout.purgeOrder() == ["c", "d", "a"])
        _ = consume lease
    }
}
