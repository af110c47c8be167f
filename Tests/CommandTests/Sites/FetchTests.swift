import FaultServer
import TestFiles
import Testing

/// What a fetch asks of a web server.
struct FetchTests {
    let world: World

    init() async throws {
        world = try await World()
        try world.write("level/maps/start.json", #"{"name": "start"}"#)
        try world.write("level/größe 1/ノイズ.bin", Bytes.random(200_000, seed: 1))
        try world.write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try world.write("level/nothing", [])
        try world.makeFolder("level/empty/inner")
        try await world.publish("--pack worlds/level-1=$WORK/level")
    }

    @Test func opensAtOnceWithAKeyThroughNginx() async throws {
        try await Nginx.run(over: world.site) { nginx in
            try await world.fetch(from: nginx.url).succeeded()
        }
        #expect(try await world.tree(of: "worlds/level-1") == Tree(world["level"]))
        #expect(try world.files(in: "ephemeral") == [])
    }

    @Test func storedPacksAreNotFetchedAgain() async throws {
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.map(\.status) == [200])
        let before = try Tree("\(world.store)/permanent").packs
        try await world.fetch(from: server.url).succeeded()
        try await world.fetch(from: server.url, withKeys: false).succeeded()
        #expect(server.packs.map(\.status) == [200])
        #expect(try Tree("\(world.store)/permanent").packs == before)
    }
}
