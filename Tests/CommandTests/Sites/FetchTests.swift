import FaultServer
import Foundation
import SystemPackage
import Testing

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

    @Test func waitsWithoutAKeyAndOpensWithIt() async throws {
        let id = "worlds/level-1"
        try await testSite.served { url in
            // Without a key the pack waits in shared storage.
            try await testSite.fetch(url, withKeys: false).succeeded()
            #expect(try await testSite.status()[id]?.state == "toBeTransferred")
            #expect(try await testSite.status()[id]?.waitingVersion == 1)
            #expect(try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") }.count == 1)
            #expect(try testSite.files(in: "ephemeral") == [])
            try await Command.run("path", id, "--store", testSite.store).failed(66, naming: id)
        }
        // With a key the pack is opened, and only metadata are requested again.
        let server = try FaultServer(testSite.site)
        let result = try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty)
        #expect(result.output == [])
        let status = try await testSite.status()[id]
        #expect(status?.state == "loaded" && status?.version == 1 && status?.form == "opened")
        #expect(status?.waitingVersion == nil && status?.failure == nil)

        let path = try await testSite.path(of: id)
        #expect(path == "\(testSite.store)/permanent/worlds/level-1/current")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        #expect(!target.hasPrefix("/"))
        #expect(try Tree(path) == Tree(folder["level"]))
        #expect(try testSite.files(in: "ephemeral") == [])
        #expect(try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    /// Opened packs are readable only as the umask allows; a store holds no other plaintext.
    @Test(arguments: [0o022, 0o077] as [UInt16]) func openedPacksRespectTheUmask(_ umask: UInt16) async throws
    {
        try await Command.run(
            ["fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root] + testSite.keys,
            umask: umask
        ).succeeded()
        let tree = try Tree(await testSite.path(of: "worlds/level-1"))
        #expect(tree.permissions["run.sh"] == 0o755 & ~umask)
        #expect(tree.permissions["maps/start.json"] == 0o644 & ~umask)
        for name in ["maps", "empty", "empty/inner"] {
            #expect(tree.permissions[name] == 0o755 & ~umask, "\(name)")
        }
        let home = "store/permanent/worlds/level-1"
        let version = try folder.names(in: home).first { $0.hasPrefix("@") && !$0.contains(".") }
        #expect(try folder.permissions("\(home)/\(try #require(version))") == 0o755 & ~umask)
    }

    @Test func opensAtOnceWithAKeyThroughNginx() async throws {
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url).succeeded()
        }
        #expect(try await testSite.tree(of: "worlds/level-1") == Tree(folder["level"]))
        #expect(try testSite.files(in: "ephemeral") == [])
    }

    @Test(arguments: ["", "file://"]) func fromAFolder(scheme: String) async throws {
        try await testSite.fetch(scheme + testSite.site).succeeded()
        #expect(try await testSite.tree(of: "worlds/level-1") == Tree(folder["level"]))
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

    /// The store pins its first root; then `--trust` can be omitted.
    @Test func trustIsNeededOnceOnly() async throws {
        let fetch = ["fetch", testSite.site, "--store", testSite.store] + testSite.keys
        try await Command.run(fetch).failed(76, naming: "--trust")
        try await testSite.fetch().succeeded()
        try await Command.run(fetch).succeeded()
    }

    @Test func sealedPacksAreReadInPlace() async throws {
        try await testSite.served { url in
            try await testSite.fetch(url, "--sealed").succeeded()
        }
        let id = "worlds/level-1"
        #expect(try await testSite.status()[id]?.form == "sealed")
        let path = try await testSite.path(of: id)
        #expect(path == "\(testSite.store)/permanent/worlds/level-1/current")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        #expect(target.hasSuffix(".avpack") && !target.hasPrefix("/"))
        #expect(
            try testSite.files(in: "permanent/worlds") == ["level-1/\(target)", "level-1/\(target).json"])
        let cat = try await Command.run(["cat", path, "maps/start.json"] + testSite.keys).succeeded()
        #expect(cat.text == #"{"name": "start"}"#)
        try await Command.run(["open", path, "-o", folder["opened"]] + testSite.keys).succeeded()
        #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
        // From sealed to opened, and back.
        try await testSite.fetch(nil, "--opened").succeeded()
        #expect(try Tree(path) == Tree(folder["level"]))
        try await testSite.fetch(nil, "--sealed").succeeded()
        #expect(try testSite.files(in: "permanent/worlds").count == 2)
    }

    @Test func anUpdateActivatesTheNewVersionAndRemovesTheOld() async throws {
        let id = "worlds/level-1"
        try await testSite.fetch().succeeded()
        let path = try await testSite.path(of: id)
        let first = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        try folder.write("level/maps/start.json", #"{"name": "changed"}"#)
        try await testSite.publish()
        // Downloaded without a key: the old version stays in use.
        try await testSite.fetch(withKeys: false).succeeded()
        let status = try await testSite.status()[id]
        #expect(status?.version == 1 && status?.waitingVersion == 2)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == first)

        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()[id]?.version == 2)
        #expect(try Tree(path) == Tree(folder["level"]))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) != first)
        let home = "\(testSite.store)/permanent/worlds/level-1"
        #expect(!FileManager.default.fileExists(atPath: "\(home)/\(first)"))
    }

    /// Expiry stops new trust only: staged packs stay usable.
    @Test func stagedPacksNeedNoSite() async throws {
        try await testSite.fetch().succeeded()
        try FileManager.default.removeItem(atPath: testSite.vault)
        #expect(try await testSite.tree(of: "worlds/level-1") == Tree(folder["level"]))
        let late = try await Command.run(
            "status", "--store", testSite.store, through: Clock.shifted(byDays: 30_000)
        ).succeeded()
        #expect(late.text.contains("loaded  worlds/level-1"))
    }
}
