import FaultServer
import Foundation
import StrictJSON
import Testing

/// Resource trees and whole channels go back to what they were under an earlier snapshot.
@Suite(.timeLimit(.minutes(10))) struct StateRestoreTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// Days 0, 1 and 2, snapshots 1 to 3: the tree `stk` with the packs a and b, then a and b and c, then a and c; the pack `one` goes
    /// when `two` comes on day 2.
    init() async throws {
        testSite = try await TestSite()
        try testSite.settings {
            $0["resources"] = [
                "stk": [
                    "source": "../stk",
                    "rules": .array(
                        ["a", "b", "c"].map { ["paths": .string("\($0)/**"), "tags": [.string($0)]] }),
                ]
            ]
        }
        try folder.write("stk/a/file", "a on day 0")
        try folder.write("stk/b/file", "b")
        try folder.write("one/file", "one")
        try await testSite.publish("--pack", "one=\(folder["one"])")
        try folder.write("stk/a/file", "a on day 1")
        try folder.write("stk/c/file", "c")
        try await testSite.publish(through: Clock.shifted(byDays: 1))
        try folder.write("stk/a/file", "a on day 2")
        try FileManager.default.removeItem(atPath: folder["stk/b"])
        try testSite.settings { $0["packs"] = [:] }
        try folder.write("two/file", "two")
        try await testSite.publish("--pack", "two=\(folder["two"])", through: Clock.shifted(byDays: 2))
    }

    private func restore(
        _ arguments: String..., in vault: String? = nil, through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(["restore", vault ?? testSite.vault] + arguments, through: wrapper)
    }

    /// The versions that a site lists, by ID.
    private func listed(in site: String? = nil, channel: String = "live") async throws -> [String: Int64] {
        let answer = try await Command.run(
            "list", site ?? testSite.site, "--trust", testSite.root, "--channel", channel, "--json"
        ).succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return packs.reduce(into: [:]) { $0[$1["id"]?.text ?? ""] = $1["version"]?.number }
    }

    /// The day on which a snapshot was published, as a command takes it.
    private func day(of snapshot: Int) throws -> String {
        let json: JSONValue = try folder.json("vault/site/metadata/\(snapshot).snapshot.json")
        return String(try #require(json["signed", "x-published", "time"]?.text).prefix(10))
    }

    private let dayTwo: [String: Int64] = ["stk/a": 3, "stk/c": 1, "two": 1]

    @Test func aTree() async throws {
        let packs = try Tree("\(testSite.site)/targets")
        let before = try Tree(testSite.vault)
        let preview = try await restore("stk", "--version", "1", "--dry-run").succeeded()
        #expect(preview.text.contains("removed  stk/c  version 1"), "\(preview.text)")
        #expect(try Tree(testSite.vault) == before)
        let result = try await restore("stk", "--version", "1").succeeded()
        #expect(result.text == preview.text)
        #expect(result.errorText.contains("the tree 'stk' lists what it did under snapshot version 1"))
        #expect(try Tree("\(testSite.site)/targets") == packs, "nothing is sealed")
        let wanted: [String: Int64] = ["stk/a": 1, "stk/b": 1, "two": 1]
        #expect(try await listed() == wanted)
        // It stays, also where the metadata of then are gone, and without its source.
        try FileManager.default.removeItem(atPath: "\(testSite.site)/metadata/1.snapshot.json")
        try await Tool.run("mv", folder["stk"], folder["away"])
        try await testSite.publish()
        #expect(try await listed() == wanted)
        try await testSite.fetch(nil, "--all").succeeded()
        #expect(try await testSite.tree(of: "stk/b").files == ["b/file"])
        // Every number that was given stays taken.
        try await Tool.run("mv", folder["away"], folder["stk"])
        try await restore("stk", "--latest").succeeded()
        #expect(try await listed() == ["stk/a": 4, "stk/c": 2, "two": 1])
        try await Command.run("audit", testSite.site, "--trust", testSite.root).succeeded()
    }

    /// Where no channels are declared, live lists the sources: exactly what was listed comes back, also what is declared no longer.
    @Test func theChannelOfTheSources() async throws {
        try await restore("--channel", "live", "--to", day(of: 2)).succeeded()
        let wanted: [String: Int64] = ["one": 1, "stk/a": 2, "stk/b": 1, "stk/c": 1]
        #expect(try await listed() == wanted)
        try folder.write("stk/a/file", "a on day 3")
        try await testSite.publish()
        #expect(try await listed() == wanted)
        try await testSite.fetch(nil, "--all").succeeded()
        #expect(try await testSite.tree(of: "one").files == ["file"])
        for words in [["stk", "--latest"], ["two", "--version", "1"]] {
            try await Command.run(["restore", testSite.vault] + words).failed(
                64, naming: "--channel live --latest")
        }
        try await restore("--channel", "live", "--latest").succeeded()
        #expect(try await listed() == ["stk/a": 4, "stk/c": 1, "two": 2])
    }

    /// A pack goes back to the version that was listed then.
    @Test func aPack() async throws {
        try folder.write("two/file", "two on day 3")
        try await testSite.publish(through: Clock.shifted(byDays: 3))
        try await restore("two", "--to", "2").failed(66, naming: "snapshot version 2 lists nothing of 'two'")
        let result = try await restore("two", "--to", day(of: 3)).succeeded()
        #expect(result.errorText.contains("two was restored to version 1"), "\(result.errorText)")
        #expect(try await listed() == dayTwo)
        try await testSite.publish()
        #expect(try await listed() == dayTwo)
    }

    /// A runner has the host's metadata alone.
    @Test func onARunner() async throws {
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        func restore(_ words: String...) async throws -> CommandResult {
            try await Command.run(["restore", runner.vault, "--against", server.url] + words)
        }
        let preview = try await restore("stk", "--to", day(of: 1), "--dry-run").succeeded()
        #expect(preview.text.contains("removed  stk/c"), "\(preview.text)")
        #expect(try runner.written() == [])
        try await restore("stk", "--to", day(of: 1)).succeeded()
        #expect(try runner.written().allSatisfy { $0.hasPrefix("metadata/") })
        try await runner.upload()
        #expect(try await listed(in: server.url) == ["stk/a": 1, "stk/b": 1, "two": 1])
        try await runner.publish(server.url).succeeded()
        try await restore("stk", "--latest").succeeded()
        try await runner.upload()
        #expect(try await listed(in: server.url) == ["stk/a": 4, "stk/c": 2, "two": 1])
    }

    /// A channel that gets its packs by promotion stays until the next one; its packs are sealed for the keys of today.
    @Test(arguments: [false, true]) func aPromotedChannel(onRunner: Bool) async throws {
        try testSite.settings { $0["channels"] = ["beta", "live"] }
        try await testSite.publish(through: Clock.shifted(byDays: 3))
        let promote = ["promote", testSite.vault, "--all", "--from", "beta", "--to", "live"]
        try folder.write("stk/a/file", "a on day 4")
        try await testSite.publish(through: Clock.shifted(byDays: 4))
        try await Command.run(promote, through: Clock.shifted(byDays: 4)).succeeded()
        let leaked = try await keyIDs()
        // A leaked key is replaced.
        try await Command.run("keygen", "-o", folder["new.jwks"]).succeeded()
        let keys = ["--keys", "file:\(folder["new.jwks"])"]
        try await Command.run(
            ["publish", testSite.vault] + testSite.keys + keys, through: Clock.shifted(byDays: 5)
        ).succeeded()
        try await Command.run(
            ["publish", testSite.vault] + keys, through: Clock.shifted(byDays: 5)
        ).succeeded()
        var (vault, site, options) = (testSite.vault, testSite.site, keys)
        let runner = onRunner ? try await Runner(of: testSite) : nil
        if let runner {
            (vault, site) = (runner.vault, runner.host)
            options += ["--against", runner.host]
        }
        func restore(_ words: String...) async throws -> CommandResult {
            try await Command.run(["restore", vault, "--channel", "live"] + words + options)
        }
        let then = try day(of: 4)
        let preview = try await restore("--to", then, "--dry-run").succeeded()
        #expect(preview.text.contains("older  stk/a  version 4 to 3"), "\(preview.text)")
        #expect(preview.errorText.contains("under snapshot version 4, published at \(then)T"))
        #expect(try await listed(in: site)["stk/a"] == 4)
        try await restore("--to", then).succeeded()
        try await runner?.upload()
        #expect(try await listed(in: site) == dayTwo)
        #expect(try await listed(in: site, channel: "beta")["stk/a"] == 4)
        #expect(try await keyIDs(in: site).isDisjoint(with: leaked))
        try await restore("--latest").failed(64, naming: "promoted to it")
        // Beta was not there before.
        try await Command.run(["restore", vault, "--channel", "beta", "--to", "2"] + options).failed(
            66, naming: "the site had no channel 'beta' then")
    }

    /// The keys that what is live is sealed for.
    private func keyIDs(in site: String? = nil) async throws -> Set<String> {
        let answer = try await Command.run(
            "list", site ?? testSite.site, "--trust", testSite.root, "--json"
        ).succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        let keys = packs.flatMap { $0["keys"]?.elements ?? [] }.compactMap(\.text)
        try #require(!keys.isEmpty, "\(answer)")
        return Set(keys)
    }

    /// Snapshots of earlier releases do not say their time, or have copied that of another one.
    @Test(arguments: [false, true]) func snapshotsWithoutATime(copied: Bool) async throws {
        _ = try await testSite.forge("snapshot") { if !copied { $0["x-published"] = nil } }
        _ = try await testSite.forge("timestamp") {
            $0["meta"] = ["snapshot.json": ["version": 4]]
        }
        try await restore("stk", "--to", day(of: 2)).failed(
            66, naming: "snapshot version 4 does not say when it was published", "a snapshot's version")
        try await restore("stk", "--to", "2").succeeded()
        #expect(try await listed() == ["stk/a": 2, "stk/b": 1, "stk/c": 1, "two": 1])
    }

    @Test func refusals() async throws {
        let before = try Tree(testSite.vault)
        try await restore("--channel", "live", "--to", "2020-01-01").failed(
            66, naming: "nothing was published by 2020-01-01T23:59:59Z", "the first publication was at")
        try await restore("stk", "--version", "4").failed(66, naming: "snapshot version 4 is not kept")
        try await restore("stk", "--to", "yesterday").failed(64, naming: "YYYY-MM-DD")
        try await restore("--channel", "live", "--version", "1").failed(64, naming: "of a channel --to")
        try await restore("stk", "--channel", "live", "--to", "1").failed(64)
        try await restore("stk/a", "--version", "1").failed(64, naming: "restore 'stk'")
        try await restore("--channel", "beta", "--to", "1").failed(64, naming: "no channel 'beta'")
        try await restore("skt", "--to", "1").failed(66, naming: "did you mean 'stk'")
        #expect(try Tree(testSite.vault) == before)
        // Packs that are gone.
        try await Tool.run("sh", "-ec", "rm '\(testSite.site)'/targets/packs/stk/*.b.avpack")
        let withoutB = try Tree(testSite.vault)
        try await restore("stk", "--version", "1").failed(66, naming: ".avpack")
        // Metadata that are gone: the state of that day could have been another one.
        try FileManager.default.removeItem(atPath: "\(testSite.site)/metadata/2.snapshot.json")
        try await restore("stk", "--to", day(of: 1)).failed(
            66, naming: "snapshot version 2 is kept no longer")
        try FileManager.default.removeItem(atPath: "\(testSite.site)/metadata/1.targets.json")
        try await restore("stk", "--version", "1").failed(66, naming: "1.targets.json")
        #expect(try Tree(testSite.vault).entries.count == withoutB.entries.count - 2)
    }

    /// What only a removed snapshot key has signed may combine what never stood together.
    @Test(arguments: ["snapshot", "targets"]) func removedKeys(role: String) async throws {
        try await testSite.trust("rotate", role).succeeded()
        try await testSite.publish()
        try await restore("stk", "--version", "1").failed(
            76, naming: "1.\(role).json", "--accept-removed-keys")
        try await restore("stk", "--version", "1", "--accept-removed-keys").succeeded()
        #expect(try await listed() == ["stk/a": 1, "stk/b": 1, "two": 1])
    }

    /// The table of names goes back with the packs that it names.
    @Test func quietNames() async throws {
        try testSite.settings { $0["quietNames"] = true }
        try await testSite.publish(through: Clock.shifted(byDays: 3))
        try folder.write("stk/b/file", "b again")
        try await testSite.publish(through: Clock.shifted(byDays: 4))
        try await restore("stk", "--to", "4").failed(64, naming: "the whole channel 'live'")
        let result = try await restore("--channel", "live", "--to", day(of: 4)).succeeded()
        #expect(result.text.contains("removed"), "\(result.text)")
        try await testSite.fetch(nil, "stk/a", "two").succeeded()
        #expect(try await testSite.tree(of: "two").files == ["file"])
        try await testSite.fetch(nil, "stk/b", into: folder["other"]).failed(66)
        try await restore("--channel", "live", "--latest").succeeded()
        try await testSite.fetch(nil, "stk/b", into: folder["other"]).succeeded()
    }

    /// When it is killed, the next publication goes on.
    @Test(arguments: ["renameat2", "fsync"]) func killed(call: String) async throws {
        for number in [1, 2, 3, 5] {
            let vault = folder["copy-\(call)-\(number)/vault"]
            try folder.makeFolder("copy-\(call)-\(number)")
            try await Tool.run("cp", "-a", testSite.vault, vault)
            for source in ["stk", "two"] {
                try await Tool.run("cp", "-a", folder[source], folder["copy-\(call)-\(number)/\(source)"])
            }
            let words = ["restore", vault, "stk", "--version", "1"]
            let result = try await Command.run(words, through: Killing.at(call, number: number))
            try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText)")
            try await Command.run(words).succeeded()
            let site = "\(vault)/site"
            #expect(try await listed(in: site) == ["stk/a": 1, "stk/b": 1, "two": 1])
        }
    }
}
