import AssetVault
import Testing
import VaultAuthoring
import VaultFileSystem

/// Packs that came before their key and are opened after the site is gone.
@Suite struct PreloadTests {
    private let world: World
    private let map: EntryPath
    private var noKeys: InMemoryKeyProvider { InMemoryKeyProvider(KeyRing()) }

    init() async throws {
        world = try await World()
        map = try EntryPath("map.json")
        try await world.publish(["map.json": World.secret])
        let client = try VaultClient(
            VaultConfiguration(
                site: SiteLocation(path: world.place.vault.site), store: world.layout,
                trustedRoot: try DurableFile.read(world.place.vault.trustedRoot, limit: 1 << 20)))
        _ = try await client.fetch()
        try FileSystem.removeTree(world.place.vault.site)
    }

    @Test func availabilityNeedsNoSite() async throws {
        let client = try world.place.client(.opened)
        try await client.ensureLocalAvailability(of: .one)
        #expect(try await client.store.contents(of: map, in: .one) == World.secret)
    }

    @Test func unlockedInAnotherForm() async throws {
        let client = try world.place.client(.opened)
        #expect(try await client.unlock([.one], as: .sealed) == [.one])
        #expect(try await client.store.status(of: .one).form == .sealed)
        #expect(try await client.store.contents(of: map, in: .one) == World.secret)
    }

    /// A missing key is reported once, at the end, and the pack waits on.
    @Test func aMissingKeyIsReportedOnce() async throws {
        let client = try world.place.client(.opened)
        let updates = client.statusUpdates(for: .one)
        #expect(
            await category {
                try await client.unlock([.one], with: noKeys, patience: .milliseconds(600))
            } == .key)
        client.endStatusUpdates()
        var received: [StatusUpdate] = []
        for await update in updates { received.append(update) }
        guard received.count == 1, case .failed(_, let error) = received[0], error.category == .key else {
            Issue.record("\(received)")
            return
        }
        #expect(try await client.store.status(of: .one).state == .toBeTransferred)
        #expect(try await client.unlock() == [.one])
    }
}
