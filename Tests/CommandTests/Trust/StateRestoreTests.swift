import Testing
import VaultBase

/// A resource tree goes back to what it was under an earlier snapshot, also where the command is killed.
@Suite(.timeLimit(.minutes(10))) struct StateRestoreTests {
    let world: World

    /// Days 0, 1 and 2, snapshots 1 to 3: the tree `stk` with the packs a and b, then a and b and c, then a and c; the pack `one` goes
    /// when `two` comes on day 2.
    init() async throws {
        world = try await World()
        try world.settings {
            $0["resources"] = [
                "stk": [
                    "source": "../stk",
                    "rules": .array(
                        ["a", "b", "c"].map { ["paths": .string("\($0)/**"), "tags": [.string($0)]] }),
                ]
            ]
        }
        try world.write("stk/a/file", "a on day 0")
        try world.write("stk/b/file", "b")
        try world.write("one/file", "one")
        try await world.publish("--pack one=$WORK/one")
        try world.write("stk/a/file", "a on day 1")
        try world.write("stk/c/file", "c")
        try await world.publish(through: Clock.shifted(byDays: 1))
        try world.write("stk/a/file", "a on day 2")
        try world.remove("stk/b")
        try world.settings { $0["packs"] = [:] }
        try world.write("two/file", "two")
        try await world.publish("--pack two=$WORK/two", through: Clock.shifted(byDays: 2))
    }

    private func restore(_ arguments: String...) async throws -> CommandResult {
        try await world.run("restore $VAULT \(arguments)")
    }

    /// The versions that a site lists, by ID.
    private func listed(in site: String? = nil) async throws -> [String: Int64] {
        let answer = try await world.run("list \(site ?? world.site) $TRUST --json").succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return packs.reduce(into: [:]) { $0[$1["id"]?.text ?? ""] = $1["version"]?.number }
    }

    /// The day on which a snapshot was published, as a command takes it.
    private func day(of snapshot: Int) throws -> String {
        let json: JSONValue = try world.json("vault/site/metadata/\(snapshot).snapshot.json")
        return String(try #require(json["signed", "x-published", "time"]?.text).prefix(10))
    }

    /// Snapshots of earlier releases do not say their time, or have copied that of another one.
    @Test(arguments: [false, true]) func snapshotsWithoutATime(copied: Bool) async throws {
        _ = try await world.forge("snapshot") { if !copied { $0["x-published"] = nil } }
        _ = try await world.forge("timestamp") {
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
            let vault = world["copy-\(call)-\(number)/vault"]
            try world.makeFolder("copy-\(call)-\(number)")
            try await world.copy("vault", to: vault)
            for source in ["stk", "two"] {
                try await world.copy(source, to: "copy-\(call)-\(number)/\(source)")
            }
            let words: Words = "restore \(vault) stk --version 1"
            let result = try await world.run(words, through: Killing.at(call, number: number))
            try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText)")
            try await world.run(words).succeeded()
            let site = "\(vault)/site"
            #expect(try await listed(in: site) == ["stk/a": 1, "stk/b": 1, "two": 1])
        }
    }
}
