import FaultServer
import Testing

/// Several processes with one store, several publishers of one vault.
struct SharedStoreTests {
    let world: World

    init() async throws {
        world = try await World("level", "other") {
            try $0.write("level/noise", Bytes.random(4 << 20, seed: 1))
            try $0.write("other/noise", Bytes.random(1 << 20, seed: 2))
        }
    }

    @Test(arguments: [[true, true], [true, false], [false, false], [true, true, false, false, true]])
    func concurrentFetchesDownloadOnce(withKeys: [Bool]) async throws {
        let server = try FaultServer(world.site)
        try await withThrowingTaskGroup { group in
            for withKeys in withKeys {
                group.addTask { try await world.fetch(from: server.url, withKeys: withKeys).succeeded() }
            }
            try await group.waitForAll()
        }
        // Header and footer are known from the metadata.
        let sizes = try ["level", "other"].map { try world.publishedBytes(of: $0).count - 64 - 128 }
        #expect(try await server.packBytesAtRest == sizes.reduce(0, +), "each pack once")
        #expect(try world.files(in: "ephemeral") == [])
        try await world.fetch(from: server.url).succeeded()
        try await world.expectLoaded("level", "other")
        #expect(try await world.loaded() == ["level", "other"])
    }

    /// A sealed and an opened form at once: either may win, and the result is complete.
    @Test func fetchesInTwoForms() async throws {
        async let opened = world.fetch()
        async let sealed = world.fetch("--sealed")
        try await opened.succeeded()
        try await sealed.succeeded()
        let form = try await world.status()["level"]?.form
        let path = try await world.path(of: "level")
        if form == "opened" {
            #expect(try Tree(path) == Tree(world["level"]))
        } else {
            try await world.run("open \(path) -o $WORK/opened $KEYS").succeeded()
            #expect(try Tree(world["opened"]) == Tree(world["level"]))
        }
    }
}
