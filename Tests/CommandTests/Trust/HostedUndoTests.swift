import FaultServer
import Testing
import VaultBase

/// What a runner without the site takes back from the state of a host that fails, or of one that another publisher changes.
@Suite(.timeLimit(.minutes(10))) struct HostedUndoTests {
    let world: World
    let runner: Runner

    /// Versions 1 to 20 of `level` are at the host, more than a publication reads of a role.
    init() async throws {
        world = try await World(level: "version 1")
        for version in 2...20 { try await world.publish(level: "version \(version)") }
        runner = try await Runner(of: world)
    }

    /// A host that fails is not one that never had the version.
    @Test func aFailingHost() async throws {
        let server = try FaultServer(runner.host) {
            $0.path.hasSuffix("/7.targets.json") ? .status(500) : .file
        }
        try await runner.run("restore", "level --version 2", against: server.url).failed(
            69, naming: "7.targets.json")
        #expect(try runner.written() == [])
    }

    /// A thief of a removed snapshot key names roles and versions: they have no effect, and cost no request.
    @Test func snapshotsOfARemovedKey() async throws {
        try await world.copy("vault/keys/snapshot.pem", to: "old.pem")
        try await world.trust("rotate snapshot").succeeded()
        try await world.publish()
        let forged: JSONValue = try world.json("vault/site/metadata/20.snapshot.json")
        var signed = try #require(forged["signed"]?.members)
        signed["meta"] = [
            "targets.json": ["version": 900], "packs-0.json": ["version": 900],
            "root.json": ["version": 900],
        ]
        try await world.sign(signed, as: "20.snapshot.json", with: world["old.pem"])
        try await Tool.run("cp", "-rT", world.site, runner.host)
        let server = try FaultServer(runner.host)
        try await runner.run("prune", against: server.url).succeeded()
        let paths = server.requests.filter { request in
            ["packs-0.json", "900.", "899."].contains { request.contains($0) }
        }
        #expect(paths.isEmpty, "\(paths)")
        #expect(server.requests.count < 120, "\(server.requests.count)")
    }

    /// Another one publishes while it runs.
    @Test func overtaken() async throws {
        try await world.publish(level: "version 21")
        let later = try [UInt8](world.bytes("vault/site/metadata/timestamp.json"))
        let server = try FaultServer(runner.host) {
            $0.path.hasSuffix("timestamp.json") && $0.earlier > 1
                ? .bytes(later, length: later.count) : .file
        }
        try await runner.run("restore", "level --version 2", against: server.url).failed(
            75, naming: "another publisher has published there meanwhile", "run the same command again")
        #expect(try runner.written() == [])
    }

    /// When it is killed, the vault's next run goes on; the host has the old state until the upload.
    @Test(arguments: ["renameat2", "fsync"]) func killed(call: String) async throws {
        for number in [1, 2, 3, 4, 6, 9] {
            let runner = try await Runner(of: world, named: "runner-\(number)")
            let result = try await runner.run(
                "restore", "level --version 2", through: Killing.at(call, number: number))
            try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText)")
            let again = try await runner.run("restore", "level --version 2")
            let isComplete = again.exitCode == 76 && again.errorText.contains("upload")
            #expect(again.exitCode == 0 || isComplete, "\(again.errorText)")
            let names = try runner.written()
            #expect(names.contains("metadata/timestamp.json") && names.count == 3, "\(names)")
            #expect(try !runner.hasScratch())
        }
    }
}
