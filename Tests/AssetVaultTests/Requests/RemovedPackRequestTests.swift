import FaultServer
import Sampling
import SealedPack
import Testing

@testable import AssetVault

/// Packs that another client removes while a request downloads them: they are still wanted.
@Suite(.timeLimit(.minutes(5))) struct RemovedPackRequestTests {
    @Test func theRequestGetsThem() async throws {
        let world = try await World.withLevels()
        let pack = try PackID("game/level2.level3")
        // The first download of the shared texture takes about five minutes at this pace.
        world.answer {
            $0.path.contains("level2.level3")
                ? .changed { $0.pace = (count: 1 << 10, pause: .seconds(1)) } : .file
        }
        let request = ResourceRequest(tags: ["level2"], of: try world.client())
        async let access: Void = request.beginAccessing()
        try await wait(for: "its request") { world.askedPacks.contains { $0.contains("level2.level3") } }
        world.answer { _ in .file }
        try await world.client().remove(pack)
        try await access
        #expect(try await request.contents(of: EntryPath("textures/grass")) == World.texture)
    }
}
