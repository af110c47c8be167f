import AssetVaultFoundation
import FaultServer
import Foundation
import Sampling
import Testing

@testable import AssetVault

/// Requests that are cancelled while the metadata are read, before any pack is planned.
@Suite(.timeLimit(.minutes(5))) struct CancelledRequestTests {
    let world: World
    let request: ResourceRequest

    init() async throws {
        world = try await World.withLevels()
        request = ResourceRequest(tags: ["level2"], of: try world.client())
    }

    /// Begins the access at a host that never sends its timestamp, and calls `body` when that was asked for. Returns what `beginAccessing()`
    /// throws.
    private func begin(_ body: @Sendable () -> Void) async throws -> VaultError.Category? {
        world.answerMetadata { $0.path.hasSuffix("timestamp.json") ? .steps([.hang]) : .file }
        async let failure = category { try await request.beginAccessing() }
        try await wait(for: "its request") {
            world.server.exchanges.contains { $0.request.path.hasSuffix("timestamp.json") }
        }
        body()
        return await failure
    }

    @Test func cancelling() async throws {
        #expect(try await begin { request.cancel() } == .cancelled)
        #expect(world.askedPacks.isEmpty && request.packIDs.isEmpty)
        // It can begin again.
        world.answerMetadata { _ in .file }
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("levels/2/map")) == World.map(2))
    }

    @Test func ending() async throws {
        #expect(try await begin { request.endAccessing() } == .cancelled)
        #expect(world.askedPacks.isEmpty && request.packIDs.isEmpty)
        #expect(await category { try await request.beginAccessing() } == .usage)
    }

    @Test func cancellingItsProgress() async throws {
        let progress = request.makeProgress()
        #expect(try await begin { progress.cancel() } == .cancelled)
        #expect(world.askedPacks.isEmpty && request.packIDs.isEmpty)
    }
}
