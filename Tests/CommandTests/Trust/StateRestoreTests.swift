import Foundation
import StrictJSON
import Testing

/// A resource tree goes back to what it was under an earlier snapshot, also where the command is killed.
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

    private func restore(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(["restore", testSite.vault] + arguments)
    }

    /// The versions that a site lists, by ID.
    private func listed(in site: String? = nil) async throws -> [String: Int64] {
        let answer = try await Command.run(
            "list", site ?? testSite.site, "--trust", testSite.root, "--json"
        ).succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return packs.reduce(into: [:]) { $0[$1["id"]?.text ?? ""] = $1["version"]?.number }
    }

    /// The day on which a snapshot was published, as a command takes it.
    private func day(of snapshot: Int) throws -> String {
        let json: JSONValue = try folder.json("vault/site/metadata/\(snapshot).snapshot.json")
        return String(try #require(json["signed", "x-published", "time"]?.text).prefix(10))
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
