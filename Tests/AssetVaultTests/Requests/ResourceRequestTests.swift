import AssetVaultFoundation
import FaultServer
import Foundation
import Sampling
import SealedPack
import Testing

@testable import AssetVault

/// Requests by tags.
@Suite(.timeLimit(.minutes(5))) struct ResourceRequestTests {
    let world: World
    let client: VaultClient

    init() async throws {
        world = try await World.withLevels()
        client = try world.client()
    }

    private func request(_ tags: String..., of other: VaultClient? = nil) -> ResourceRequest {
        ResourceRequest(tags: Set(tags), of: other ?? client)
    }

    private func map(_ level: Int) throws -> EntryPath { try EntryPath("levels/\(level)/map") }

    /// The packs that could be removed now.
    private func purgeable() throws -> [String] { try world.layout.purgeOrder() }

    @Test func beginDownloadsWhatIsMissing() async throws {
        let second = request("level2")
        try await second.beginAccessing()
        #expect(try await second.contents(of: map(2)) == World.map(2))
        #expect(try await second.contents(of: EntryPath("textures/grass")) == World.texture)
        #expect(await category { _ = try await second.contents(of: map(3)) } == .missing)
        let asked = world.askedPacks
        #expect(asked.count == 2, "\(asked)")
        let third = request("level3")
        try await third.beginAccessing()
        #expect(try await third.contents(of: map(3)) == World.map(3))
        #expect(try await third.contents(of: EntryPath("textures/grass")) == World.texture)
        #expect(world.askedPacks.subtracting(asked).count == 1)
        #expect(third.packIDs.map(\.description) == ["game/level2.level3", "game/level3"])
    }

    /// What is loaded needs no network, not even for the metadata.
    @Test func loadedTagsNeedNoNetwork() async throws {
        try await request("level2").beginAccessing()
        let count = world.server.exchanges.count
        let other = request("level2", of: try world.client())
        try await other.beginAccessing()
        #expect(try await other.contents(of: map(2)) == World.map(2))
        #expect(world.server.exchanges.count == count)
    }

    @Test func conditionalBegin() async throws {
        let first = request("level2")
        #expect(try await first.conditionallyBeginAccessing() == false)
        #expect(world.server.exchanges.isEmpty)
        try await first.beginAccessing()
        let asked = world.askedPacks
        let second = request("level2", "level3")
        #expect(try await second.conditionallyBeginAccessing() == false)
        #expect(second.packIDs.isEmpty)
        let third = request("level2")
        #expect(try await third.conditionallyBeginAccessing())
        first.endAccessing()
        #expect(try purgeable() == [])
        third.endAccessing()
        #expect(try purgeable().sorted() == ["level2", "level2.level3"])
        #expect(world.askedPacks == asked)
    }

    /// A pack is purgeable once the last request of all clients has ended, also by the end of the object.
    @Test func accessIsCounted() async throws {
        let first = request("level2")
        try await first.beginAccessing()
        do {
            let second = request("level3", of: try world.client())
            try await second.beginAccessing()
            first.endAccessing()
            #expect(try purgeable() == ["level2"])
            _ = second
        }
        #expect(try purgeable().sorted() == ["level2", "level2.level3", "level3"])
        // The first level is essential: it stays.
        let initial = request("level1")
        try await initial.beginAccessing()
        initial.endAccessing()
        #expect(try !purgeable().contains("level1"))
        #expect(try AccessNotes(layout: world.layout).current().isEmpty)
    }

    @Test func misuse() async throws {
        #expect(await category { try await self.request().beginAccessing() } == .usage)
        let request = request("level2")
        #expect(await category { _ = try await request.contents(of: map(2)) } == .usage)
        try await request.beginAccessing()
        #expect(await category { try await request.beginAccessing() } == .usage)
        #expect(await category { _ = try await request.conditionallyBeginAccessing() } == .usage)
        request.endAccessing()
        request.endAccessing()
        #expect(await category { try await request.beginAccessing() } == .usage)
        #expect(await category { _ = try await request.contents(of: map(2)) } == .usage)
    }

    @Test func errors() async throws {
        #expect(await category { try await request("levl2").beginAccessing() } == .unknownTag)
        try await request("level2").beginAccessing()
        let unknown = try #require(await thrown { try await request("level2", "levl3").beginAccessing() })
        #expect(
            unknown.category == .unknownTag && "\(unknown)".contains("did you mean 'level3'"), "\(unknown)")
        let limited = try world.client { $0.policy.accessedSize = 600_000 }
        let second = request("level2", of: limited)
        try await second.beginAccessing()
        let asked = world.askedPacks
        // Map and texture of both levels, and 600,000 are allowed.
        let error = try #require(await thrown { try await request("level3", of: limited).beginAccessing() })
        #expect(error.category == .accessLimit && error.missingBytes == 100_005, "\(error)")
        #expect(world.askedPacks == asked)
        second.endAccessing()
        let third = request("level3", of: limited)
        try await third.beginAccessing()
        try await world.server.stop()
        #expect(await category { try await request("level4").beginAccessing() } == .unreachable)
        // It can begin again.
        let again = request("level4", of: try world.client())
        #expect(await category { try await again.beginAccessing() } == .unreachable)
        #expect(await category { try await again.beginAccessing() } == .unreachable)
    }

    @Test func progress() async throws {
        world.slowDown()
        let request = request("level2")
        #expect(request.progress.fraction == 0)
        let updates = request.progressUpdates
        async let seen = {
            var fractions: [Double] = []
            for await progress in updates { fractions.append(progress.fraction) }
            return fractions
        }()
        try await request.beginAccessing()
        let fractions = await seen
        #expect(fractions == fractions.sorted() && fractions.last == 1 && fractions.count > 2, "\(fractions)")
        #expect(request.progress.packs.count == 2 && request.progress.total > 500_000)
    }

    /// As Foundation shows it, with a child for each pack.
    @Test func foundationProgress() async throws {
        world.hold()
        let request = request("level2")
        let progress = request.makeProgress()
        async let failure = category { try await request.beginAccessing() }
        try await wait(for: "the first bytes") { progress.fractionCompleted > 0 }
        #expect(progress.totalUnitCount > 500_000 && progress.fractionCompleted < 1)
        progress.pause()
        #expect(request.packIDs.isEmpty)
        progress.resume()
        progress.cancel()
        #expect(await failure == .cancelled)
        world.release()
        let again = ResourceRequest(tags: ["level2"], of: client)
        let complete = again.makeProgress()
        try await again.beginAccessing()
        try await wait(for: "its end") { complete.isFinished }
        #expect(complete.fractionCompleted == 1)
    }

    /// A pack that no host has is told from a host that is not reached.
    @Test func aMissingPack() async throws {
        world.answer { _ in .status(404) }
        #expect(await category { try await request("level2").beginAccessing() } == .notHosted)
        world.answer { _ in .status(500) }
        #expect(await category { try await request("level2").beginAccessing() } == .unavailable)
    }

    /// Too little disk space is reported before anything fails, with the bytes that are missing.
    @Test func lowDisk() async throws {
        let full = try world.client { $0.policy.lowWaterMark = 1 << 60 }
        let updates = full.statusUpdates
        let error = try #require(await thrown { try await request("level2", of: full).beginAccessing() })
        #expect(error.category == .diskFull && error.missingBytes ?? 0 > 1 << 59, "\(error)")
        full.endStatusUpdates()
        var order: [String] = []
        for await update in updates {
            switch update {
            case .diskSpaceLow(_, let missing): order.append(missing > 1 << 59 ? "low" : "wrong")
            case .failed: order.append("failed")
            default: break
            }
        }
        #expect(order.first == "low" && order.contains("failed"), "\(order)")
    }
}
