import FaultServer
import TestFiles
import Testing

@testable import AssetVault

/// As long as an essential pack is missing, nothing of a prefetch pack is asked for.
@Suite(.timeLimit(.minutes(5))) struct EssentialFirstTests {
    let world: World

    init() async throws {
        world = try await World.withPacks(["levels/one": "essential", "extras": "prefetch"])
        try await world.publish(["noise": noise(200_000, seed: 3)], as: "later")
        try await world.publish(["noise": noise(200_000, seed: 4)], as: "core")
        try await world.declare(["core": "essential"])
    }

    enum Way: CaseIterable { case fetch, fetchOfAll, install, update, periodic }

    private func bring(_ way: Way) async throws -> VaultError? {
        switch way {
        case .fetch, .fetchOfAll:
            let client = try world.client()
            do { _ = try await client.fetch(way == .fetch ? .automatic : .all) } catch { return error }
            return nil
        case .install: return try await world.downloader().run(.install).firstError
        case .update: return try await world.downloader().run(.update).firstError
        case .periodic: return try await world.downloader().run(.periodic).firstError
        }
    }

    /// The names of the packs, in the order in which they were asked for.
    private var asked: [String] {
        world.server.packs.compactMap {
            $0.request.path.split(separator: "/").last?.split(separator: ".").dropFirst().first
                .map(String.init)
        }
    }

    /// The connection of an essential pack ends early, so that it is asked for again.
    @Test(arguments: Way.allCases) func noPrefetchedByteBefore(way: Way) async throws {
        world.answer { request in
            request.path.hasSuffix("one.avpack") && request.earlier == 0 ? .cut(after: 300_000) : .file
        }
        #expect(try await bring(way) == nil)
        let asked = asked
        #expect(Set(asked) == ["one", "core", "extras", "later"] && asked.count > 4, "\(asked)")
        let lastEssential = try #require(asked.lastIndex { ["one", "core"].contains($0) })
        let firstPrefetch = try #require(asked.firstIndex { ["extras", "later"].contains($0) })
        #expect(lastEssential < firstPrefetch, "\(asked)")
    }

    /// An essential pack that fails for good holds up nothing else: in a downloader it is tried once more, last of all.
    @Test(arguments: Way.allCases) func aFailureForGood(way: Way) async throws {
        world.answer { $0.path.hasSuffix("one.avpack") ? .status(404) : .file }
        #expect(try await bring(way)?.category == .notHosted)
        #expect(Set(asked) == ["one", "core", "extras", "later"], "\(asked)")
        // The next run knows that it failed, and holds up nothing for it either.
        try await world.publish(["noise": noise(200_000, seed: 5)], as: "later")
        let before = asked.count
        #expect(try await bring(way)?.category == .notHosted)
        #expect(Set(asked.dropFirst(before)) == ["one", "later"], "\(asked)")
    }

    /// What the app paused holds up nothing.
    @Test func aPausedEssentialPack() async throws {
        let client = try world.client()
        let (one, extras) = (PackID.one, PackID.extras)
        client.pause(one)
        async let fetched = client.fetch()
        while try await client.store.status(of: extras).state != .loaded {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(!asked.contains("one"))
        client.resume(one)
        _ = try await fetched
        #expect(try await client.store.status(of: one).state == .loaded)
    }
}
