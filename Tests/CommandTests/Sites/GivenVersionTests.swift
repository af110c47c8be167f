import Testing
import VaultBase

/// A version number is given once, whoever publishes, and from wherever: clients and kept metadata may have it.
@Suite(.timeLimit(.minutes(10))) struct GivenVersionTests {
    let world: World
    private static let member = "x-last-versions"

    /// Versions 1 to 3 of `level`.
    init() async throws {
        world = try await World(level: "version 1")
        for version in 2...3 { try await world.publish(level: "version \(version)") }
    }

    /// Whoever has stolen a key that was removed since gives no numbers.
    @Test func aRemovedKey() async throws {
        try await world.copy("vault/keys/targets.pem", to: "old.pem")
        try await world.trust("rotate targets").succeeded()
        try await world.publish()
        var signed = try #require(try await world.newest("targets")["signed"]?.members)
        let version = try #require(signed["version"]?.number) + 1
        signed["version"] = .integer(version)
        signed[Self.member] = ["level": 9_007_199_254_740_991]
        try await world.sign(signed, as: "\(version).targets.json", with: world["old.pem"])
        try world.write("level/file", "version 4")
        let published = try await Runner(of: world).publish().succeeded()
        #expect(published.text.contains("level  version 4"))
        #expect(try await world.publish().text.contains("level  version 4"))
    }

    /// Anything but numbers of packs is refused, where it would be gone on with; clients don't read it.
    @Test(
        arguments: [
            [], "level", ["level": 0], ["level": -1], ["level": "3"], ["level": .null], ["Level": 1], ["": 1],
            ["../level": 1],
        ] as [JSONValue])
    func anInvalidMember(value: JSONValue) async throws {
        try await world.forgeTargets { $0[Self.member] = value }
        try await world.fetch().succeeded()
        try await world.run("audit $SITE $TRUST").succeeded()
        try world.write("level/file", "version 4")
        try await world.run("publish $VAULT").failed(76, naming: Self.member)
    }

    /// The highest number of all ends a pack, and nothing else.
    @Test func theHighestNumber() async throws {
        try await world.forgeTargets { $0[Self.member] = ["level": 9_007_199_254_740_991, "gone": 7] }
        try await world.publish()
        try world.write("level/file", "version 4")
        try await world.run("publish $VAULT").failed(64, naming: "out of range")
        try world.write("gone/file", "declared again")
        try world.settings { $0["packs"] = ["gone": ["source": "../gone"]] }
        #expect(try await world.publish().text.contains("gone  version 8"))
        #expect(
            try await world.newest("targets")["signed", Self.member] == ["level": 9_007_199_254_740_991])
    }

    /// Whoever signed two packs as one version is looked for where the file is.
    @Test func twoPacksOfOneVersion() async throws {
        let third = try await world.newestFile(of: "targets")
        try await world.forgeTargets { signed in
            let old: JSONValue = try world.json("vault/site/metadata/1.targets.json")
            let record = try #require(old["signed", "targets", "packs/level.avpack"])
            try #require(signed["targets"]?["packs/level.avpack"] != nil)
            signed["targets"] = ["packs/level.avpack": record]
            try signed.changePack("level") { $0["version"] = 3 }
        }
        try world.write("level/file", "version 4")
        let newest = try await world.newestFile(of: "targets")
        try await world.forgeTargets { signed in
            let old: JSONValue = try world.json("vault/site/metadata/2.targets.json")
            signed["targets"] = old["signed", "targets"]
        }
        let runner = try await Runner(of: world)
        let there = try await runner.run("restore", "level --version 3")
        there.failed(76, naming: "two packs were signed as version 3")
        #expect([third, newest].contains { there.errorText.contains("\(runner.host)/metadata/\($0)") })
    }
}

/// A team's role carries its numbers itself.
struct GivenVersionOfATeamTests {
    /// They may be more than members that nobody knows, if they are numbers.
    @Test func manyPacks() async throws {
        let world = try await World.withTeam()
        let many = (0..<5_000).map { ("dlc1/withdrawn-\($0)", JSONValue.integer(1)) }
        try await world.forgeTeam(version: 2) { $0["x-last-versions"] = .object(JSONObject(lastWins: many)) }
        let result = try await world.publish()
        #expect(!result.errorText.contains("stays at version"), "\(result.errorText)")
        try await world.forgeTeam(version: 3) {
            $0["x-last-versions"] = .object(JSONObject(lastWins: many + [("dlc1/one", "text")]))
        }
        try await world.keepsTheLast(naming: "its signed part has", "of unknown members")
    }
}
