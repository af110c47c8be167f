import FaultServer
import Foundation
import Sampling
import Testing

/// Damaged loaded packs are repaired from the host by pieces.
@Suite(.timeLimit(.minutes(5))) struct DamagedTreeTests {
    let world: World
    private static let size = 4 << 20

    init() async throws {
        world = try await World("level") {
            try $0.write("level/noise", Bytes.random(Self.size, seed: 1))
            try $0.write("level/text", String(repeating: "words ", count: 50_000))
            try $0.write("level/sub/empty", "")
        }
    }

    private func verify() async throws -> CommandResult {
        try await world.run("verify $STORE $KEYS")
    }

    private func repair(_ url: String, through wrapper: [String] = []) async throws -> CommandResult {
        try await world.run("repair \(url) $STORE $KEYS", through: wrapper)
    }

    private func damage(_ kind: String) async throws {
        let tree = URL(filePath: try await world.path(of: "level")).resolvingSymlinksInPath().path
        switch kind {
        case "changed":
            var bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(tree)/noise")))
            bytes[bytes.count / 2] ^= 1
            try Data(bytes).write(to: URL(filePath: "\(tree)/noise"))
        case "cut": try await Tool.run("truncate", "-s", "100000", "\(tree)/noise")
        case "longer": try await Tool.run("truncate", "-s", "+1", "\(tree)/noise")
        case "gone": try await Tool.run("rm", "\(tree)/text")
        case "added": try Data([1]).write(to: URL(filePath: "\(tree)/sub/more"))
        default: try await Tool.run("chmod", "666", "\(tree)/text")
        }
    }

    @Test(
        arguments: ["changed", "cut", "longer", "gone", "added", "writable"].sample(
            3, for: "DamagedTreeTests.anOpenedOne"))
    func anOpenedPackIsRepaired(kind: String) async throws {
        try await world.fetch().succeeded()
        try await verify().succeeded()
        try await damage(kind)
        let found = try await verify()
        #expect(found.exitCode == 65 && found.text.hasPrefix("damaged  level"), "\(found.text)")
        let server = try FaultServer(world.site)
        let result = try await repair(server.url).succeeded()
        #expect(result.errorText.contains("repaired  level"))
        #expect(
            server.packBytes < Self.size / 2 || kind == "cut", "only what is damaged: \(server.packBytes)")
        #expect(try await verify().succeeded().text.hasPrefix("sound  level"))
        try await world.expectLoaded("level")
        #expect(try world.files(in: "ephemeral") == [])
        #expect(try world.names(in: "store/permanent/level").count == 4, "nothing else is left")
        #expect(try await repair(server.url).succeeded().errorText.contains("no damage was found"))
    }

    /// At any moment the old tree or the repaired one is complete.
    @Test(arguments: ["renameat2", "renameat", "fsync"]) func killedRepair(call: String) async throws {
        try await world.fetch().succeeded()
        let numbers = [1] + Sampling.numbers(2...30, each: 3, for: "DamagedTreeTests.killed \(call)")
        let kills = try await Killing.atEach(call, numbers, isAlwaysCalled: false) { _, wrapper in
            try await damage("changed")
            let result = try await repair(world.site, through: wrapper)
            #expect(try await world.tree(of: "level").files.count == 3)
            try await repair(world.site).succeeded()
            try await world.expectLoaded("level")
            try await world.fetch().succeeded()
            #expect(try world.names(in: "store/permanent/level").count == 4)
            #expect(try world.files(in: "ephemeral") == [])
            return result
        }
        #expect(kills > 0)
    }
}
