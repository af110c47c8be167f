import FaultServer
import Foundation
import StrictJSON
import Testing

/// What a runner without the site takes back: from the state of the host alone.
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

    private func onRunner(_ words: String..., through wrapper: [String] = []) async throws -> CommandResult {
        var words = words
        let place = words[0] == "trust" ? 2 : 1
        words.insert(runner.vault, at: place)
        return try await Command.run(words, through: wrapper)
    }

    /// All files of the runner's vault but the lock, which stays.
    private func files() throws -> [String: Tree.Entry] {
        try Tree(runner.vault).entries.filter { $0.key != ".lock" && $0.value != .folder }
    }

    private func expectClientHas(_ text: String, _ url: String) async throws {
        try await Command.run("audit", url, "--trust", testSite.root).succeeded()
        try await testSite.fetch(url).succeeded()
        let path = try await testSite.path(of: "level")
        #expect(try String(contentsOfFile: "\(path)/file", encoding: .utf8) == text)
    }

    /// Only metadata are written, and the settings keep the decision; later versions are higher than every one before.
    @Test(arguments: [1, 19]) func restores(version: Int) async throws {
        let server = try FaultServer(runner.host)
        let result = try await onRunner(
            "restore", "level", "--version", "\(version)", "--against", server.url
        ).succeeded()
        #expect(result.errorText.contains("level was restored to version \(version)"))
        #expect(try runner.written().allSatisfy { $0.hasPrefix("metadata/") })
        try await runner.upload()
        try await expectClientHas("version \(version)", server.url)
        let latest = try await onRunner("restore", "level", "--latest", "--against", server.url).succeeded()
        #expect(latest.text.contains("level  version 21"), "\(latest.text)")
        try await runner.upload()
        try await expectClientHas("version 20", server.url)
    }

    /// Metadata between were pruned at the host.
    @Test func restoresBeyondGaps() async throws {
        for number in 5...18 {
            try FileManager.default.removeItem(atPath: "\(runner.host)/metadata/\(number).targets.json")
        }
        try await onRunner("restore", "level", "--version", "2", "--against", runner.host).succeeded()
        try await runner.upload()
        try await expectClientHas("version 2", runner.host)
        try await onRunner("restore", "level", "--version", "9", "--against", runner.host).failed(
            66, naming: "the host: no metadata that is kept lists version 9 of 'level'")
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

    @Test func theWithdrawnPackIsMissing() async throws {
        let pack = try testSite.publishedPack("level")
        let server = try FaultServer(runner.host) {
            $0.isForPack && !$0.path.hasSuffix(pack) ? .status(404) : .file
        }
        let before = try files()
        try await onRunner("restore", "level", "--version", "2", "--against", server.url).failed(
            72, naming: "the host does not have it")
        #expect(try files() == before)
    }

    /// What only removed keys have signed is refused, as it is in the whole vault.
    @Test func removedKeys() async throws {
        let server = try FaultServer(runner.host)
        try await onRunner("trust", "rotate", "targets", "--against", server.url).succeeded()
        try await runner.upload()
        try await runner.publish(server.url).succeeded()
        try await runner.upload()
        try await onRunner("restore", "level", "--version", "2", "--against", server.url).failed(
            76, naming: "--accept-removed-keys")
        try await onRunner(
            "restore", "level", "--version", "2", "--accept-removed-keys", "--against", server.url
        ).succeeded()
        try await runner.upload()
        try await expectClientHas("version 2", server.url)
    }

    /// Each change of the trust is made from the host's state; clients that know the old one follow.
    @Test func trustChanges() async throws {
        let server = try FaultServer(runner.host)
        try await testSite.fetch(server.url).succeeded()
        for role in ["timestamp", "snapshot", "targets", "root"] {
            try await onRunner("trust", "rotate", role, "--against", server.url).succeeded()
            #expect(try runner.written().contains { $0.hasSuffix(".root.json") }, "\(role)")
            try await runner.upload()
            try await expectClientHas("version 20", server.url)
        }
        let colleague = try await testSite.makeKey("colleague")
        try await onRunner(
            "trust", "add-key", "timestamp", colleague.publicKey, "--against", server.url
        ).succeeded()
        try await runner.upload()
        let timestamp = try folder.bytes("host/metadata/timestamp.json")
        try await onRunner("trust", "refresh", "--against", server.url).succeeded()
        #expect(try folder.bytes("host/metadata/timestamp.json") == timestamp)
        try await runner.upload()
        #expect(try folder.bytes("host/metadata/timestamp.json") != timestamp)
        try await expectClientHas("version 20", server.url)
    }

    /// Without a site and without a host each command says what is missing, and changes nothing.
    @Test(arguments: [
        ["publish"], ["restore", "level", "--version", "2"], ["prune"], ["trust rotate", "timestamp"],
        ["trust refresh"], ["trust threshold", "root", "1"], ["plan", "--updates"],
    ]) func withoutTheHost(words: [String]) async throws {
        let before = try files()
        let command = words[0].split(separator: " ").map(String.init)
        try await Command.run(command + [runner.vault] + words.dropFirst()).failed(
            66, naming: "the site is not here", "--against")
        #expect(try files() == before)
    }

    /// The same where the vault has published before, to a host alone: its site/ has new files, or none. And where site/ is an old one.
    @Test func withoutTheHostLater() async throws {
        try await runner.publish(runner.host).succeeded()
        try await onRunner("restore", "level", "--version", "2", "--against", runner.host).succeeded()
        try await runner.upload()
        for isGone in [false, true] {
            if isGone { try await Tool.run("rm", "-r", runner.site) }
            for words in [["publish"], ["restore", "level", "--latest"], ["trust", "rotate", "timestamp"]] {
                var words = words
                words.insert(runner.vault, at: words[0] == "trust" ? 2 : 1)
                try await Command.run(words).failed(66, naming: "the site is not here", "--against")
            }
        }
        try await Tool.run("cp", "-a", testSite.site, runner.site)
        try await onRunner("publish").failed(76, naming: "was published from here", "--against")
    }

    /// What updates cost is counted from the host's packs, or refused.
    @Test func plansUpdates() async throws {
        try folder.write("level/file", "version 21")
        let there = try await Command.run("plan", testSite.vault, "--updates", "--json").succeeded().json()
        let here = try await onRunner("plan", "--updates", "--json", "--against", runner.host).succeeded()
            .json()
        #expect(here == there)
        #expect(here["packs"]?.elements?.first?["publishedVersion"] == 20)
        // With the metadata alone nobody knows what clients can reuse.
        try await Tool.run("cp", "-a", testSite.site, runner.site)
        try await Tool.run("rm", "-r", "\(runner.site)/targets")
        try await onRunner("plan", "--updates").failed(66, naming: "--against")
    }

    /// The same files as in the whole vault, and nothing is removed.
    @Test func plansWhatToPrune() async throws {
        let server = try FaultServer(runner.host)
        let then = try Clock.shifted(byDays: 60)
        try await onRunner("prune", "--against", server.url, through: then).failed(
            76, naming: "it may be an old state", "publish and upload first")
        try await testSite.publish(through: Clock.shifted(byDays: 40))
        try await Tool.run("cp", "-rT", testSite.site, runner.host)
        func removed(_ result: CommandResult) throws -> Set<String> {
            let list = try #require(try result.succeeded().json()["removed"]?.elements)
            return Set(list.compactMap { $0["path"]?.text?.replacing("\(testSite.site)/", with: "") })
        }
        let options = ["--keep", "3", "--grace", "10d", "--json"]
        let there = try removed(
            try await Command.run(
                ["prune", testSite.vault, "--dry-run"] + options, through: then))
        let before = try Tree(runner.host)
        let here = try await Command.run(
            ["prune", runner.vault, "--against", server.url] + options, through: then)
        #expect(try removed(here) == there)
        #expect(there.count > 40)
        #expect(try Tree(runner.host) == before && runner.written() == [])
        let text = try await onRunner("prune", "--against", server.url, through: then).succeeded()
        #expect(text.errorText.contains("nothing was removed"), "\(text.errorText)")
        // What the plan names is needed by nobody.
        for file in there { try FileManager.default.removeItem(atPath: "\(runner.host)/\(file)") }
        try await testSite.fetch(server.url, through: Clock.shifted(byDays: 60)).succeeded()
        try await Command.run(
            "restore", runner.vault, "level", "--version", "18", "--against", server.url,
            through: Clock.shifted(byDays: 60)
        ).succeeded()
    }

    /// The grace time begins with what was signed then, whatever period the settings have now.
    @Test(arguments: [1, 3]) func anotherPeriod(factor: Int64) async throws {
        let settings = "runner/vault/vault.json"
        var json: JSONObject = try folder.json(settings)
        json["expiry"] = [
            "root": 365, "targets": .integer(365 * factor), "snapshot": .integer(30 * factor),
            "timestamp": 30,
        ]
        try folder.write(settings, JSONValue.object(json).pretty())
        try await testSite.publish(through: Clock.shifted(byDays: 35))
        try await Tool.run("cp", "-rT", testSite.site, runner.host)
        for (days, isRemoved) in [(40, false), (62, true)] {
            let plan = try await onRunner(
                "prune", "--against", runner.host, "--keep", "1", "--grace", "60d", "--json",
                through: Clock.shifted(byDays: days)
            ).succeeded().json()
            let removed = try #require(plan["removed"]?.elements)
            #expect(removed.isEmpty != isRemoved, "\(days): \(removed)")
        }
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

    @Test func twoWaysToPrune() async throws {
        try await onRunner("prune", "--trust", testSite.root, "--against", runner.host).failed(
            64, naming: "--trust prunes a folder, and --against plans for a host")
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

    /// A host that went back, and one of another vault.
    @Test func otherHosts() async throws {
        let server = try FaultServer(runner.host)
        try await onRunner("restore", "level", "--version", "2", "--against", server.url).succeeded()
        try await runner.upload()
        try await Tool.run("rm", "-r", runner.site)
        try await onRunner("restore", "level", "--latest", "--against", testSite.site).failed(
            76, naming: "was published from here")
        let other = try await TestSite(publishing: ["level"])
        try await onRunner("trust", "refresh", "--against", other.site).failed(76)
        try await onRunner("prune", "--against", other.site).failed(76)
    }
}
