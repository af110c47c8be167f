import FaultServer
import Foundation
import StrictJSON
import Testing

/// What a runner without the site takes back from the state of a host that fails, or of one that another publisher changes.
@Suite(.timeLimit(.minutes(10))) struct HostedUndoTests {
    let testSite: TestSite
    let runner: Runner
    private var folder: TemporaryFolder { testSite.folder }

    /// Versions 1 to 20 of `level` are at the host, more than a publication reads of a role.
    init() async throws {
        testSite = try await TestSite()
        for version in 1...20 {
            try testSite.folder.write("level/file", "version \(version)")
            try await testSite.publish("--pack", "level=\(testSite.folder["level"])")
        }
        runner = try await Runner(of: testSite)
    }

    private func onRunner(_ words: String...) async throws -> CommandResult {
        var words = words
        let place = words[0] == "trust" ? 2 : 1
        words.insert(runner.vault, at: place)
        return try await Command.run(words)
    }

    /// A host that fails is not one that never had the version.
    @Test func aFailingHost() async throws {
        let server = try FaultServer(runner.host) {
            $0.path.hasSuffix("/7.targets.json") ? .status(500) : .file
        }
        try await onRunner("restore", "level", "--version", "2", "--against", server.url).failed(
            69, naming: "7.targets.json")
        #expect(try runner.written() == [])
    }

    /// A thief of a removed snapshot key names roles and versions: they count for nothing, and cost no request.
    @Test func snapshotsOfARemovedKey() async throws {
        let old = folder["old-snapshot.pem"]
        try await Tool.run("cp", "-a", folder["vault/keys/snapshot.pem"], old)
        try await testSite.trust("rotate", "snapshot").succeeded()
        try await testSite.publish()
        let forged: JSONValue = try folder.json("vault/site/metadata/20.snapshot.json")
        var signed = try #require(forged["signed"]?.members)
        signed["meta"] = [
            "targets.json": ["version": 900], "packs-0.json": ["version": 900],
            "root.json": ["version": 900],
        ]
        try await testSite.sign(signed, as: "20.snapshot.json", with: old)
        try await Tool.run("cp", "-rT", testSite.site, runner.host)
        let server = try FaultServer(runner.host)
        try await onRunner("prune", "--against", server.url).succeeded()
        let paths = server.requests.filter { request in
            ["packs-0.json", "900.", "899."].contains { request.contains($0) }
        }
        #expect(paths.isEmpty, "\(paths)")
        #expect(server.requests.count < 120, "\(server.requests.count)")
    }

    /// Another one publishes while it runs.
    @Test func overtaken() async throws {
        try folder.write("level/file", "version 21")
        try await testSite.publish()
        let later = try [UInt8](folder.bytes("vault/site/metadata/timestamp.json"))
        let server = try FaultServer(runner.host) {
            $0.path.hasSuffix("timestamp.json") && $0.earlier > 1
                ? .bytes(later, length: later.count) : .file
        }
        try await onRunner("restore", "level", "--version", "2", "--against", server.url).failed(
            75, naming: "somebody else has published there meanwhile", "run the same command again")
        #expect(try runner.written() == [])
    }

    /// When it is killed, the vault's next run goes on; the host has the old state until the upload.
    @Test(arguments: ["renameat2", "fsync"]) func killed(call: String) async throws {
        for number in [1, 2, 3, 4, 6, 9] {
            let runner = try await Runner(of: testSite, named: "runner-\(number)")
            func restore(_ wrapper: [String]) async throws -> CommandResult {
                try await Command.run(
                    "restore", runner.vault, "level", "--version", "2", "--against", runner.host,
                    through: wrapper)
            }
            let result = try await restore(Killing.at(call, number: number))
            try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText)")
            let again = try await restore([])
            let isComplete = again.exitCode == 76 && again.errorText.contains("upload")
            #expect(again.exitCode == 0 || isComplete, "\(again.errorText)")
            let names = try runner.written()
            #expect(names.contains("metadata/timestamp.json") && names.count == 3, "\(names)")
            #expect(try !Tree(runner.vault).entries.keys.contains { $0.contains(".assetvault-") })
        }
    }
}
