import FaultServer
import Foundation
import Sampling
import Testing

/// Damaged loaded packs are repaired from the host by pieces.
@Suite(.timeLimit(.minutes(5))) struct DamagedTreeTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private static let size = 4 << 20

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Bytes.random(Self.size, seed: 1))
        try folder.write("level/text", String(repeating: "words ", count: 50_000))
        try folder.write("level/sub/empty", "")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func verify() async throws -> CommandResult {
        try await Command.run(["verify", "--store", testSite.store] + testSite.keys)
    }

    private func repair(_ url: String, through wrapper: [String] = []) async throws -> CommandResult {
        try await Command.run(
            ["repair", url, "--store", testSite.store] + testSite.keys, through: wrapper)
    }

    private func damage(_ kind: String) async throws {
        let tree = URL(filePath: try await testSite.path(of: "level")).resolvingSymlinksInPath().path
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
        try await testSite.fetch().succeeded()
        try await verify().succeeded()
        try await damage(kind)
        let found = try await verify()
        #expect(found.exitCode == 65 && found.text.hasPrefix("damaged  level"), "\(found.text)")
        let server = try FaultServer(testSite.site)
        let result = try await repair(server.url).succeeded()
        #expect(result.errorText.contains("repaired  level"))
        #expect(
            server.packBytes < Self.size / 2 || kind == "cut", "only what is damaged: \(server.packBytes)")
        #expect(try await verify().succeeded().text.hasPrefix("sound  level"))
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        #expect(try testSite.files(in: "ephemeral") == [])
        #expect(try folder.names(in: "store/permanent/level").count == 4, "nothing else is left")
        #expect(try await repair(server.url).succeeded().errorText.contains("no damage was found"))
    }

    /// At any moment the old tree or the repaired one is complete.
    @Test(arguments: ["renameat2", "renameat", "fsync"]) func killedRepair(call: String) async throws {
        try await testSite.fetch().succeeded()
        var kills = 0
        for number in [1] + Sampling.numbers(2...30, each: 3, for: "DamagedTreeTests.killed \(call)") {
            try await damage("changed")
            let wrapper =
                ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
                + ["-e", "inject=\(call):signal=KILL:when=\(number)"]
            let result = try await repair(testSite.site, through: wrapper)
            #expect(try await testSite.tree(of: "level").files.count == 3)
            try await repair(testSite.site).succeeded()
            #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
            try await testSite.fetch().succeeded()
            #expect(try folder.names(in: "store/permanent/level").count == 4)
            #expect(try testSite.files(in: "ephemeral") == [])
            if result.exitCode == 0 { break }
            kills += 1
        }
        #expect(kills > 0)
    }
}
