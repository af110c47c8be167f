import FaultServer
import Foundation
import StrictJSON
import Testing

/// Publishing from a hosted site, with offline keys, new roots, bins, teams and pins.
struct HostedVaultTests {
    private func level() async throws -> TestSite {
        let testSite = try await TestSite()
        try testSite.folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(testSite.folder["level"])")
        return testSite
    }

    private func expectClient(of testSite: TestSite, at host: String) async throws {
        try await Command.run("audit", host, "--trust", testSite.root).succeeded()
        try await testSite.fetch(host).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(testSite.folder["level"]))
    }

    /// A sealed pack waits in the runner's vault for its signature.
    @Test(arguments: [true, false]) func anOfflineKey(keepingSite: Bool) async throws {
        let testSite = try await level()
        let folder = testSite.folder
        let key = try testSite.takeAway("targets.pem")
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try folder.write("level/file", "version 2")
        try await runner.publish(server.url).failed(77, naming: "targets.pem", "pending")
        let sealed = try runner.written()
        #expect(sealed.count == 1 && sealed[0].hasSuffix(".avpack"))
        // Where the packs are lost meanwhile they are sealed once more, to the same bytes.
        if !keepingSite { try await Tool.run("rm", "-r", runner.site) }
        let waiting = folder["runner/vault/pending/2.targets.json"]
        try await Command.run("trust", "sign", waiting, "--key", key).succeeded()
        try await runner.publish(server.url).succeeded()
        #expect(try runner.written().filter { $0.hasSuffix(".avpack") } == sealed)
        #expect(try !folder.exists("runner/vault/pending/2.targets.json"))
        try await runner.upload()
        try await expectClient(of: testSite, at: server.url)
    }

    /// A runner pins the first root, and follows the host's to the newest.
    @Test func severalRoots() async throws {
        let testSite = try await level()
        for role in ["timestamp", "targets"] {
            try await testSite.trust("rotate", role).succeeded()
            try await testSite.publish()
        }
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try testSite.folder.write("level/file", "version 2")
        try await runner.publish(server.url).succeeded()
        #expect(try !runner.written().contains { $0.hasSuffix("root.json") })
        try await runner.upload()
        try await expectClient(of: testSite, at: server.url)
    }

    /// A root that is due is renewed by the runner, too.
    @Test func aRootThatIsDue() async throws {
        let testSite = try await level()
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try await runner.publish(server.url, "--offline-until", "2199-12-31").succeeded()
        #expect(try runner.written().contains("metadata/2.root.json"))
        try await runner.upload()
        try await expectClient(of: testSite, at: server.url)
        try await runner.publish(server.url).succeeded()
    }

    @Test func bins() async throws {
        let testSite = try await level()
        let folder = testSite.folder
        try testSite.settings { $0["bins"] = 16 }
        try await testSite.publish()
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try folder.write("level/file", "version 2")
        let result = try await runner.publish(server.url).succeeded()
        #expect(result.text.contains("updated  level  version 2"))
        let metadata = try runner.written().filter { $0.hasPrefix("metadata") }
        #expect(metadata.count == 3 && metadata.contains { $0.contains("/2.packs-") }, "\(metadata)")
        try await runner.upload()
        try await expectClient(of: testSite, at: server.url)
    }

    /// An unreadable bin must not count as empty.
    @Test func anUnreadableBin() async throws {
        let testSite = try await level()
        try testSite.settings { $0["bins"] = 2 }
        try await testSite.publish()
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host) { $0.path.contains("1.packs-1") ? .status(500) : .file }
        try await runner.publish(server.url).failed(69, naming: "packs-1")
        #expect(try runner.written() == [])
    }

    /// Only new files of a team are written.
    @Test func teams() async throws {
        let studio = try await Studio()
        let (testSite, folder) = (studio.testSite, studio.folder)
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try await runner.publish(server.url).succeeded()
        #expect(try runner.written() == [])
        try folder.write("one/file", "the team's second")
        try await studio.publishTeam()
        try await runner.publish(server.url).succeeded()
        let packs = try runner.written().filter { $0.hasSuffix(".avpack") }
        #expect(packs.count == 1 && packs[0].contains("dlc1/"), "\(packs)")
        try await runner.upload()
        try await expectClient(of: testSite, at: server.url)
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        // A team's part has no timestamp of its own.
        try await Command.run("publish", studio.team, "--against", server.url).failed(64, naming: "team")
    }

    @Test func aPinnedVersion() async throws {
        let testSite = try await level()
        let folder = testSite.folder
        try await Tool.run("cp", "-a", folder["level"], folder["old"])
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await Command.run("restore", testSite.vault, "level", "--version", "1").succeeded()
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        try await runner.publish(server.url).succeeded()
        #expect(try runner.written() == [])
        try testSite.folder.write("more/file", "more")
        try await Tool.run("ln", "-s", folder["more"], folder["runner/more"])
        try await runner.publish(server.url, "--pack", "more=\(folder["runner/more"])").succeeded()
        try await runner.upload()
        try await testSite.fetch(server.url).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["old"]))
    }
}
