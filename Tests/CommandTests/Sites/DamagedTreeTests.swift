import FaultServer
import Foundation
import Sampling
import StrictJSON
import Testing

/// Damaged loaded packs: found on demand, and repaired from the host by pieces.
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

    private func verify(withKeys: Bool = true) async throws -> CommandResult {
        try await Command.run(["verify", "--store", testSite.store] + (withKeys ? testSite.keys : []))
    }

    private func repair(_ url: String, withKeys: Bool = true, through wrapper: [String] = []) async throws
        -> CommandResult
    {
        try await Command.run(
            ["repair", url, "--store", testSite.store] + (withKeys ? testSite.keys : []), through: wrapper)
    }

    private func damage(_ kind: String) async throws {
        let tree = URL(filePath: try await testSite.path(of: "level")).resolvingSymlinksInPath().path
        switch kind {
        case "changed":
            var bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(tree)/noise")))
            bytes[bytes.count / 2] ^= 1
            try Data(bytes).write(to: URL(filePath: "\(tree)/noise"))
        case "cut": try await Tool.run("truncate", "-s", "100000", "\(tree)/noise")
        case "cut in time":
            // Its time is as before.
            let script = "cp -p \"$1\" \"$2\"; truncate -s 100000 \"$1\"; touch -r \"$2\" \"$1\""
            try await Tool.run("/bin/sh", "-ec", script, "sh", "\(tree)/noise", folder["copy"])
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

    @Test(arguments: [0o022, 0o077] as [UInt16]) func aRepairedTreeRespectsTheUmask(_ umask: UInt16)
        async throws
    {
        try await testSite.fetch().succeeded()
        try await damage("changed")
        try await Command.run(
            ["repair", testSite.site, "--store", testSite.store] + testSite.keys, umask: umask
        ).succeeded()
        let home = "store/permanent/level"
        let version = try folder.names(in: home).first { $0.hasPrefix("@") && !$0.contains(".") }
        for name in ["", "/sub"] {
            #expect(try folder.permissions("\(home)/\(try #require(version))\(name)") == 0o755 & ~umask)
        }
        #expect(try folder.permissions("\(home)/\(try #require(version))/noise") == 0o644 & ~umask)
    }

    /// Each fetch checks loaded packs: a changed file has all verified, and damaged bytes are fetched.
    @Test(arguments: ["changed", "cut", "cut in time", "longer", "gone", "added", "writable"])
    func fetchRepairsDamage(kind: String) async throws {
        try await testSite.fetch().succeeded()
        try await damage(kind)
        let server = try FaultServer(testSite.site)
        let locked = try await testSite.fetch(server.url, withKeys: false).succeeded()
        #expect(locked.errorText.hasPrefix("locked  level: what is loaded stays: its files were changed"))
        #expect(server.packs.isEmpty)
        try await testSite.fetch(server.url).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await verify().succeeded()
        let asked = server.packs.count
        #expect(asked > 0)
        #expect(try await testSite.fetch(server.url).succeeded().errorText == "up to date  level\n")
        #expect(server.packs.count == asked)
    }

    /// Changed times alone are not damage, and are checked only once.
    @Test func changedTimesAreNotDamage() async throws {
        try await testSite.fetch().succeeded()
        let tree = URL(filePath: try await testSite.path(of: "level")).resolvingSymlinksInPath().path
        try await Tool.run("touch", "\(tree)/noise")
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty)
        #expect(
            try await testSite.fetch(server.url, withKeys: false).succeeded().errorText
                == "up to date  level\n")
    }

    /// A changed sealed pack is repaired without a key.
    @Test func fetchRepairsASealedPackWithoutAKey() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let name = try #require(testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/level/\(name)")
        let sound = bytes
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/level/\(name)", bytes)
        try await testSite.fetch(withKeys: false).succeeded()
        #expect(try folder.bytes("store/permanent/level/\(name)") == sound)
    }

    /// An opened pack can't be verified without its key, a sealed one can.
    @Test func verifyingAnOpenedPackNeedsItsKey() async throws {
        try await testSite.fetch().succeeded()
        let opened = try await verify(withKeys: false)
        #expect(opened.exitCode == 77 && opened.text.hasPrefix("unverified  level"))
        let help = try await repair(testSite.site, withKeys: false).succeeded()
        #expect(help.errorText.contains("not verified  level") && help.errorText.contains("--keys"))
        let other = ["--keys", "file:\(folder["other.jwks"])"]
        try await Command.run("keygen", "-o", folder["other.jwks"]).succeeded()
        let named = try await Command.run(
            ["repair", testSite.site, "level", "--store", testSite.store] + other)
        #expect(named.exitCode == 77 && named.errorText.contains("level"), "\(named.errorText)")
        try await testSite.fetch(nil, "--sealed").succeeded()
        #expect(try await verify(withKeys: false).succeeded().text.hasPrefix("sound  level"))
        let name = try #require(testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/level/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/level/\(name)", bytes)
        let json = try await Command.run("verify", "--store", testSite.store, "--json")
        #expect(json.exitCode == 65)
        #expect(try json.json()["packs"]?.elements?.first?["finding"] == "damaged")
        try await Command.run("verify", "other", "--store", testSite.store).failed(66, naming: "other")
    }

    /// The digests in the record were verified before: neither expiry nor a missing site prevents a repair.
    @Test(arguments: [[], ["--sealed"]]) func repairsAfterExpiry(options: [String]) async throws {
        try await Command.run(
            ["fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root] + testSite.keys
                + options
        ).succeeded()
        if options.isEmpty {
            try await damage("changed")
        } else {
            let name = try #require(testSite.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
            var bytes = try folder.bytes("store/permanent/level/\(name)")
            bytes[bytes.count / 2] ^= 1
            try folder.write("store/permanent/level/\(name)", bytes)
        }
        let later = try Clock.shifted(byDays: 3000)
        try await Command.run(
            ["fetch", testSite.site, "--store", testSite.store] + testSite.keys, through: later
        ).failed(76)
        #expect(try await verify().exitCode == 65)
        let result = try await repair(testSite.site, through: later).succeeded()
        #expect(result.errorText.contains("repaired  level"))
        try await verify().succeeded()
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
