import FaultServer
import Foundation
import SystemPackage
import Testing

struct FetchTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/maps/start.json", #"{"name": "start"}"#)
        try folder.write("level/größe 1/ノイズ.bin", Bytes.random(200_000, seed: 1))
        try folder.write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try folder.write("level/nothing", [])
        try folder.makeFolder("level/empty/inner")
        try await workshop.publish("--pack", "worlds/level-1=\(folder["level"])")
    }

    @Test func waitsWithoutAKeyAndOpensWithIt() async throws {
        let id = "worlds/level-1"
        try await workshop.served { url in
            // Without a key the pack waits in shared storage.
            try await workshop.fetch(url, withKeys: false).succeeded()
            #expect(try await workshop.status()[id]?.state == "toBeTransferred")
            #expect(try await workshop.status()[id]?.waitingVersion == 1)
            #expect(try workshop.files(in: "shared").filter { $0.hasSuffix(".avpack") }.count == 1)
            #expect(try workshop.files(in: "ephemeral") == [])
            try await Command.run("path", id, "--store", workshop.store).failed(66, naming: id)
        }
        // With a key the pack is opened, and only metadata are requested again.
        let server = try FaultServer(workshop.site)
        let result = try await workshop.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty)
        #expect(result.output == [])
        let status = try await workshop.status()[id]
        #expect(status?.state == "loaded" && status?.version == 1 && status?.form == "opened")
        #expect(status?.waitingVersion == nil && status?.failure == nil)

        let path = try await workshop.path(of: id)
        #expect(path == "\(workshop.store)/permanent/worlds/level-1/current")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        #expect(!target.hasPrefix("/"))
        #expect(try Tree(path) == Tree(folder["level"]))
        #expect(try workshop.files(in: "ephemeral") == [])
        #expect(try workshop.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    /// Opened packs are readable only as the umask allows; a store holds no other plaintext.
    @Test(arguments: [0o022, 0o077] as [UInt16]) func openedPacksRespectTheUmask(_ umask: UInt16) async throws
    {
        try await Command.run(
            ["fetch", workshop.site, "--store", workshop.store, "--trust", workshop.root] + workshop.keys,
            umask: umask
        ).succeeded()
        let tree = try Tree(await workshop.path(of: "worlds/level-1"))
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
        try await Nginx.run(over: workshop.site, in: folder) { nginx in
            try await workshop.fetch(nginx.url).succeeded()
        }
        #expect(try await workshop.tree(of: "worlds/level-1") == Tree(folder["level"]))
        #expect(try workshop.files(in: "ephemeral") == [])
    }

    @Test(arguments: ["", "file://"]) func fromAFolder(scheme: String) async throws {
        try await workshop.fetch(scheme + workshop.site).succeeded()
        #expect(try await workshop.tree(of: "worlds/level-1") == Tree(folder["level"]))
    }

    @Test func storedPacksAreNotFetchedAgain() async throws {
        let server = try FaultServer(workshop.site)
        try await workshop.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [200])
        let before = try Tree("\(workshop.store)/permanent").packs
        try await workshop.fetch(server.url).succeeded()
        try await workshop.fetch(server.url, withKeys: false).succeeded()
        #expect(server.packs.map(\.status) == [200])
        #expect(try Tree("\(workshop.store)/permanent").packs == before)
    }

    /// The store pins its first root; then `--trust` can be omitted.
    @Test func trustIsNeededOnceOnly() async throws {
        let fetch = ["fetch", workshop.site, "--store", workshop.store] + workshop.keys
        try await Command.run(fetch).failed(76, naming: "--trust")
        try await workshop.fetch().succeeded()
        try await Command.run(fetch).succeeded()
    }

    @Test func sealedPacksAreReadInPlace() async throws {
        try await workshop.served { url in
            try await workshop.fetch(url, "--sealed").succeeded()
        }
        let id = "worlds/level-1"
        #expect(try await workshop.status()[id]?.form == "sealed")
        let path = try await workshop.path(of: id)
        #expect(path == "\(workshop.store)/permanent/worlds/level-1/current")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        #expect(target.hasSuffix(".avpack") && !target.hasPrefix("/"))
        #expect(
            try workshop.files(in: "permanent/worlds") == ["level-1/\(target)", "level-1/\(target).json"])
        let cat = try await Command.run(["cat", path, "maps/start.json"] + workshop.keys).succeeded()
        #expect(cat.text == #"{"name": "start"}"#)
        try await Command.run(["open", path, "-o", folder["opened"]] + workshop.keys).succeeded()
        #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
        // From sealed to opened, and back.
        try await workshop.fetch(nil, "--opened").succeeded()
        #expect(try Tree(path) == Tree(folder["level"]))
        try await workshop.fetch(nil, "--sealed").succeeded()
        #expect(try workshop.files(in: "permanent/worlds").count == 2)
    }

    @Test func anUpdateActivatesTheNewVersionAndRemovesTheOld() async throws {
        let id = "worlds/level-1"
        try await workshop.fetch().succeeded()
        let path = try await workshop.path(of: id)
        let first = try FileManager.default.destinationOfSymbolicLink(atPath: path)
        try folder.write("level/maps/start.json", #"{"name": "changed"}"#)
        try await workshop.publish()
        // Downloaded without a key: the old version stays in use.
        try await workshop.fetch(withKeys: false).succeeded()
        let status = try await workshop.status()[id]
        #expect(status?.version == 1 && status?.waitingVersion == 2)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == first)

        try await workshop.fetch().succeeded()
        #expect(try await workshop.status()[id]?.version == 2)
        #expect(try Tree(path) == Tree(folder["level"]))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) != first)
        let home = "\(workshop.store)/permanent/worlds/level-1"
        #expect(!FileManager.default.fileExists(atPath: "\(home)/\(first)"))
    }

    /// Expiry stops new trust only: staged packs stay usable.
    @Test func stagedPacksNeedNoSite() async throws {
        try await workshop.fetch().succeeded()
        try FileManager.default.removeItem(atPath: workshop.vault)
        #expect(try await workshop.tree(of: "worlds/level-1") == Tree(folder["level"]))
        let late = try await Command.run(
            "status", "--store", workshop.store, through: ["faketime", "2099-01-01"]
        ).succeeded()
        #expect(late.text.contains("loaded  worlds/level-1"))
    }
}
