import AssetVault
import FaultServer
import TestFiles
import Testing

/// What an app requests, and what it gets.
@Suite(.timeLimit(.minutes(5))) struct AvailabilityTests {
    let world: World
    let one = PackID.one
    let extras = PackID.extras

    init() async throws { world = try await World.withPacks() }

    @Test func packsOfTheSite() async throws {
        let client = try world.client()
        #expect(try await client.packs.map(\.id) == [extras, one])
        #expect(try await client.pack(withID: extras).offer.policy == .onDemand)
        #expect(await category { _ = try await client.pack(withID: PackID("none")) } == .missing)
        #expect(try await client.store.status(of: one).state == .absent)
    }

    @Test func onDemand() async throws {
        let client = try world.client()
        _ = try await client.fetch()
        #expect(try await client.store.status(of: one).state == .loaded)
        #expect(try await client.store.status(of: extras).state == .absent)
        try await client.ensureLocalAvailability(of: [extras, one])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: extras) == World.extras)
    }

    /// Stored packs need no network; the latest version does.
    @Test func storedPacksNeedNoNetwork() async throws {
        _ = try await world.client().fetch()
        let asked = world.server.exchanges.count
        let client = try world.client()
        try await client.ensureLocalAvailability(of: one)
        #expect(world.server.exchanges.count == asked)

        let newer = noise(500_000, seed: 3)
        try await world.publish(["noise": newer])
        try await client.ensureLocalAvailability(of: one)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(try await client.checkForUpdates().updated == [one])
        try await client.ensureLocalAvailability(of: one, requireLatest: true)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == newer)
        #expect(try await client.checkForUpdates().updated == [])
    }

    @Test func removedPacksStayRemoved() async throws {
        let client = try world.client()
        _ = try await client.fetch(.all)
        try await client.remove(one)
        #expect(try await client.store.status(of: one).state == .absent)
        #expect(
            await category { _ = try await client.store.contents(of: EntryPath("noise"), in: one) }
                == .missing)
        _ = try await client.fetch()
        _ = try await world.downloader().run(.periodic)
        #expect(try await client.store.status(of: one).state == .absent)
        try await client.ensureLocalAvailability(of: one)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
    }

    /// A pack without its key waits, which is reported; the key opens it without a network.
    @Test func preloadedAndUnlocked() async throws {
        let client = try world.client(keys: false)
        #expect(await category { try await client.ensureLocalAvailability(of: one) } == .key)
        #expect(try await client.store.status(of: one).state == .toBeTransferred)
        let asked = world.server.exchanges.count
        #expect(await category { try await client.unlock() } == .key)
        #expect(try await client.unlock(with: world.place.keys) == [one])
        #expect(world.server.exchanges.count == asked)
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
    }

    /// A provider that starts to answer is asked again.
    @Test func aKeyThatBecomesAvailable() async throws {
        _ = try await world.downloader().run(.install)
        let (keys, release) = (world.place.keys, Flag())
        let later = ClosureKeyProvider { id throws(VaultError) in
            guard release.isSet, let id else { return KeyRing() }
            return try await keys.keys(for: id)
        }
        async let opened = VaultStore(world.layout).unlock(with: later, patience: .seconds(60))
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await world.client().store.status(of: one).loadedVersion == nil)
        release.set()
        #expect(try await opened == [one])
    }

    @Test func invalidConfigurationsAreRefused() {
        let changes: [(String, (inout VaultConfiguration) throws -> Void)] = [
            ("one folder for two areas", { $0.store.permanent = $0.store.shared }),
            ("no packs at once", { $0.packsAtOnce = 0 }),
            ("a host not allowed", { $0.policy.allowedHosts = try AllowedHosts(["cdn.example.com"]) }),
        ]
        for (name, change) in changes {
            #expect(throws: VaultError.self, "\(name)") { try world.client(change) }
        }
    }
}
