import FaultServer
import Testing
import VaultBase

/// A slow fetch that is overtaken by one with newer metadata.
@Suite(.timeLimit(.minutes(5))) struct OvertakenFetchTests {
    let world: World

    /// Version 1 is on `old-site`, version 2 on the site, and nothing in the store.
    init() async throws {
        world = try await World(level: "version 1")
        try await world.copy("vault/site", to: "old-site")
        try await world.publish(level: "version 2")
    }

    enum Way: CaseIterable { case shared, opened, sealed }

    private func fetch(_ way: Way, from url: String) async throws -> CommandResult {
        switch way {
        case .shared: try await world.fetch(from: url, withKeys: false)
        case .opened: try await world.fetch(from: url)
        case .sealed: try await world.fetch("--sealed", from: url)
        }
    }

    /// Version 1 is paused during its download until version 2 is staged.
    private func overtake(_ slow: Way, by fast: Way) async throws {
        let (host, gate) = try world.gatedHost(of: world["old-site"])
        async let overtaken = fetch(slow, from: host.url)
        try await gate.whileBlocked {
            try await fetch(fast, from: world.site).succeeded()
        }
        try await overtaken.succeeded()
    }

    @Test(arguments: Way.allCases) func aLoadedVersionIsKept(slow: Way) async throws {
        try await overtake(slow, by: .opened)
        let status = try await world.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 2 && status?.waitingVersion == nil)
        // The requested form is kept, whoever requested it.
        try StoreContent(loaded: 2, isSealed: slow == .sealed).expect(
            of: "level", in: world.store, "\(slow)")
        // The old version uses no space.
        let names = try world.names(in: "store/permanent/level")
        #expect(
            names.count == (slow == .sealed ? 3 : 4) && !names.contains { $0.hasPrefix("@1-") }, "\(names)")
        #expect(try world.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    @Test func aWaitingVersionIsKept() async throws {
        try await overtake(.shared, by: .shared)
        let status = try await world.status()["level"]
        #expect(status?.waitingVersion == 2 && status?.version == nil, "\(status as Any)")
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.isEmpty)
        try await world.expectLoaded("level")
    }

    /// With a key the slow fetch opens the version that the fast one left waiting.
    @Test(arguments: [Way.opened, .sealed]) func aWaitingVersionIsOpened(slow: Way) async throws {
        try await overtake(slow, by: .shared)
        let status = try await world.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 2 && status?.waitingVersion == nil)
        #expect(status?.form == (slow == .sealed ? "sealed" : "opened"))
    }

    /// A record that claims unverified metadata is ignored and corrected.
    @Test func aRecordBeyondTheVerifiedMetadataIsRefused() async throws {
        let record = "store/permanent/@state/level/@record.json"
        try await world.fetch(from: world["old-site"]).succeeded()
        try world.editRecord(record) { $0["snapshotVersion"] = .integer((1 << 53) - 1) }
        try await world.fetch().succeeded()
        #expect(try await world.status()["level"]?.version == 2)
        let healed: JSONObject = try world.json(record)
        #expect(healed["snapshotVersion"] == .integer(2))
    }
}
