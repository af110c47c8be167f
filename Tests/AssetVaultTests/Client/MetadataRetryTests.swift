import FaultServer
import Testing

@testable import AssetVault

/// A host that fails now and then is asked for metadata again.
@Suite(.timeLimit(.minutes(5))) struct MetadataRetryTests {
    let world: World

    init() async throws { world = try await World.withPacks() }

    @Test func eachFileIsAskedForAgain() async throws {
        world.answerMetadata { $0.earlier == 0 ? .status(503) : .file }
        try await world.client().refresh()
        let paths = world.server.exchanges.map(\.request.path)
        #expect(Set(paths).allSatisfy { path in paths.count { $0 == path } == 2 }, "\(paths)")
    }

    /// An app that starts is not held for long.
    @Test func notForEver() async throws {
        world.answerMetadata { _ in .status(500) }
        let client = try world.client()
        #expect(await category { try await client.refresh() } == .unavailable)
        #expect(world.server.exchanges.count == 3)
    }
}
