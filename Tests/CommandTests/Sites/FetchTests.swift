import FaultServer
import Testing

/// What a fetch asks of a web server.
struct FetchTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/maps/start.json", #"{"name": "start"}"#)
        try folder.write("level/größe 1/ノイズ.bin", Bytes.random(200_000, seed: 1))
        try folder.write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try folder.write("level/nothing", [])
        try folder.makeFolder("level/empty/inner")
        try await testSite.publish("--pack", "worlds/level-1=\(folder["level"])")
    }

    @Test func opensAtOnceWithAKeyThroughNginx() async throws {
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url).succeeded()
        }
        #expect(try await testSite.tree(of: "worlds/level-1") == Tree(folder["level"]))
        #expect(try testSite.files(in: "ephemeral") == [])
    }

    @Test func storedPacksAreNotFetchedAgain() async throws {
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [200])
        let before = try Tree("\(testSite.store)/permanent").packs
        try await testSite.fetch(server.url).succeeded()
        try await testSite.fetch(server.url, withKeys: false).succeeded()
        #expect(server.packs.map(\.status) == [200])
        #expect(try Tree("\(testSite.store)/permanent").packs == before)
    }
}
