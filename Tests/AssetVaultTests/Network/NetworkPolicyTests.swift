import FaultServer
import Sampling
import SealedPack
import Synchronization
import Testing

@testable import AssetVault

/// What an app allows of the network, also while work runs, and what is counted.
@Suite(.timeLimit(.minutes(5))) struct NetworkPolicyTests {
    let world: World
    let client: VaultClient

    init() async throws {
        world = try await World.withLevels()
        client = try world.client()
    }

    private var sentBytes: UInt64 {
        get async throws { UInt64(try await world.server.packBytesAtRest) }
    }

    @Test func withoutNetworkNothingIsSent() async throws {
        let second = ResourceRequest(tags: ["level2"], of: client)
        try await second.beginAccessing()
        client.network = .none
        let asked = world.server.exchanges.count
        // What is loaded needs none.
        let again = ResourceRequest(tags: ["level2"], of: client)
        try await again.beginAccessing()
        let third = ResourceRequest(tags: ["level3"], of: client)
        #expect(await category { try await third.beginAccessing() } == .unreachable)
        #expect(await category { try await client.refresh() } == .unreachable)
        #expect(world.server.exchanges.count == asked)
        client.network = .unrestricted
        try await third.beginAccessing()
    }

    /// What came before the network was taken away is not sent again.
    @Test func theNetworkGoesWhileItIsUsed() async throws {
        world.hold()
        let request = ResourceRequest(tags: ["level4"], of: client)
        async let failure = category { try await request.beginAccessing() }
        try await wait(for: "the first bytes") { request.progress.bytes > 0 }
        client.network = .none
        #expect(await failure == .unreachable)
        // Else the system might take what was held for a connection whose end the server has not noticed.
        try await wait(for: "the end of all transfers") {
            world.server.closed >= world.server.exchanges.count
        }
        world.release()
        client.network = .unrestricted
        try await request.beginAccessing()
        #expect(try await request.contents(of: EntryPath("levels/4/map")) == World.map(4))
        // Beside the pack only what was sent and had not arrived.
        let sent = try await sentBytes
        #expect(sent < 320_000, "\(sent)")
    }

    /// What is requested comes over a metered network, as far as that is allowed.
    @Test func anAllowanceForMeteredNetworks() async throws {
        let careful = try world.client {
            $0.network = .metered
            $0.policy.meteredAllowance = 250_000
        }
        let small = ResourceRequest(tags: ["level4"], of: careful)
        #expect(try await small.downloadSize() > 200_000)
        try await small.beginAccessing()
        let sent = try await sentBytes
        // The texture comes with it. What it costs is reported all the same.
        let large = ResourceRequest(tags: ["level3"], of: careful)
        #expect(try await large.downloadSize() > 300_000)
        let error = try #require(await thrown { try await large.beginAccessing() })
        #expect(error.category == .limit && error.missingBytes ?? 0 > 50_000, "\(error)")
        // Nothing but indexes comes for a request that can't begin.
        let more = try await sentBytes - sent
        #expect(more < 10_000, "\(more)")
        careful.network = .unrestricted
        try await large.beginAccessing()
        try await world.server.rest()
        let usage = try await careful.store.traffic()
        let today = try #require(usage.days[TrafficLog.today])
        #expect(today.all == UInt64(world.server.exchanges.reduce(0) { $0 + $1.bodyBytes }))
        #expect(careful.receivedBytes == today.all)
        #expect(usage.packs[try PackID("game/level4")]?.metered ?? 0 > 200_000)
        #expect(usage.packs[try PackID("game/level4")]?.unmetered == 0)
        #expect(usage.packs[try PackID("game/level3")]?.unmetered ?? 0 > 200_000)
        #expect(usage.metadata.all > 0)
        #expect(usage.packs.values.reduce(usage.metadata.all) { $0 + $1.all } == today.all)
    }
}

/// Prefetch packs and metered networks.
@Suite(.timeLimit(.minutes(5))) struct MeteredPrefetchTests {
    let world: World

    init() async throws {
        world = try await World.withPacks(["levels/one": "prefetch", "extras": "essential"])
    }

    private func deferred(_ client: VaultClient, _ body: () async throws -> Void) async throws -> [PackID] {
        let updates = client.statusUpdates
        try await body()
        client.endStatusUpdates()
        var found: [PackID] = []
        for await case .deferred(let id) in updates { found.append(id) }
        return found
    }

    @Test func prefetchPacksWait() async throws {
        let client = try world.client()
        client.network = .metered
        let found = try await deferred(client) { _ = try await client.fetch() }
        #expect(found.map(\.description) == ["levels/one"])
        #expect(try await client.store.status(of: .one).state == .absent)
        #expect(try await client.store.status(of: .extras).state == .loaded)
        // What is named comes.
        _ = try await client.fetch(.only([.one]))
        #expect(try await client.store.status(of: .one).state == .loaded)
    }

    /// A network that becomes metered ends a prefetch, which is not a failure.
    @Test func aNetworkBecomesMetered() async throws {
        world.answer { $0.path.hasSuffix("one.avpack") ? .steps([.hang]) : .file }
        let client = try world.client()
        let found = try await deferred(client) {
            async let fetched = client.fetch()
            try await wait(for: "the download") { try await client.store.status(of: .one).state != .absent }
            client.network = .metered
            _ = try await fetched
        }
        #expect(found.map(\.description) == ["levels/one"])
        #expect(try await client.store.status(of: .extras).state == .loaded)
        #expect(try await client.store.status(of: .one).loadedVersion == nil)
    }

    @Test func aDownloaderObeys() async throws {
        var configuration = try world.configuration(keys: false)
        configuration.network = .metered
        let seen = Mutex<Set<PackID>>([])
        _ = try await PackDownloader(configuration).run(.install) { update in
            if case .deferred(let id) = update { seen.withLock { _ = $0.insert(id) } }
        }
        #expect(seen.withLock { $0 } == [PackID.one])
        #expect(try await world.client().store.status(of: .extras).state == .toBeTransferred)
    }
}
