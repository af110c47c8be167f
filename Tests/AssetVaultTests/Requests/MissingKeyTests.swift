import FaultServer
import SealedPack
import Testing

@testable import AssetVault

/// Requests of a client without keys.
@Suite(.timeLimit(.minutes(5))) struct MissingKeyTests {
    /// The packs are downloaded once, and wait: nothing else is said of them.
    @Test func aClientWithoutKeys() async throws {
        let world = try await World.withLevels()
        let client = try world.client { $0.keys = nil }
        let updates = client.statusUpdates
        async let states = {
            var states: [PackID: [PackState]] = [:]
            for await case .finished(let id, let state) in updates { states[id, default: []].append(state) }
            return states
        }()
        let keyless = ResourceRequest(tags: ["level2"], of: client)
        let error = try #require(await thrown { try await keyless.beginAccessing() })
        #expect(error.category == .key && error.place == "game/level2", "\(error)")
        client.endStatusUpdates()
        #expect(await states.values.map { $0 } == [[.toBeTransferred], [.toBeTransferred]])
        let count = world.server.exchanges.count
        let request = ResourceRequest(tags: ["level2"], of: try world.client())
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("levels/2/map")) == World.map(2))
        #expect(world.server.exchanges.dropFirst(count).allSatisfy { !$0.request.isForPack })
    }
}
