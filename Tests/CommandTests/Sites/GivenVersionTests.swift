import Foundation
import StrictJSON
import Testing

/// A version number is given once, whoever publishes, and from wherever: clients and kept metadata may have it.
@Suite(.timeLimit(.minutes(10))) struct GivenVersionTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }
    private static let member = "x-last-versions"

    /// Versions 1 to 3 of `level`.
    init() async throws {
        testSite = try await TestSite()
        for version in 1...3 {
            try testSite.folder.write("level/file", "version \(version)")
            try await testSite.publish("--pack", "level=\(testSite.folder["level"])")
        }
    }

    private func publish(_ vault: String? = nil, _ options: [String] = []) async throws -> String {
        try await Command.run(["publish", vault ?? testSite.vault] + options).succeeded().text
    }

    /// Whoever has stolen a key that was removed since gives no numbers.
    @Test func aRemovedKey() async throws {
        let old = folder["old.pem"]
        try await Tool.run("cp", "-a", folder["vault/keys/targets.pem"], old)
        try await testSite.trust("rotate", "targets").succeeded()
        try await testSite.publish()
        let newest = try await testSite.newestFile(of: "targets")
        let json: JSONValue = try folder.json("vault/site/metadata/\(newest)")
        var signed = try #require(json["signed"]?.members)
        let version = try #require(signed["version"]?.number) + 1
        signed["version"] = .integer(version)
        signed[Self.member] = ["level": 9_007_199_254_740_991]
        try await testSite.sign(signed, as: "\(version).targets.json", with: old)
        try folder.write("level/file", "version 4")
        let runner = try await Runner(of: testSite)
        #expect(try await publish(runner.vault, ["--against", runner.host]).contains("level  version 4"))
        #expect(try await publish().contains("level  version 4"))
    }

    /// Anything but numbers of packs is refused, where it would be gone on with; clients don't read it.
    @Test(
        arguments: [
            [], "level", ["level": 0], ["level": -1], ["level": "3"], ["level": .null], ["Level": 1], ["": 1],
            ["../level": 1],
        ] as [JSONValue])
    func anInvalidMember(value: JSONValue) async throws {
        try await testSite.forgeTargets { $0[Self.member] = value }
        try await testSite.fetch().succeeded()
        try await Command.run("audit", testSite.site, "--trust", testSite.root).succeeded()
        try folder.write("level/file", "version 4")
        try await Command.run("publish", testSite.vault).failed(76, naming: Self.member)
    }

    /// The highest number of all ends a pack, and nothing else.
    @Test func theHighestNumber() async throws {
        try await testSite.forgeTargets { $0[Self.member] = ["level": 9_007_199_254_740_991, "gone": 7] }
        try await testSite.publish()
        try folder.write("level/file", "version 4")
        try await Command.run("publish", testSite.vault).failed(64, naming: "out of range")
        try folder.write("gone/file", "declared again")
        try testSite.settings { $0["packs"] = ["gone": ["source": "../gone"]] }
        #expect(try await publish().contains("gone  version 8"))
        let newest = try await testSite.newestFile(of: "targets")
        let json: JSONValue = try folder.json("vault/site/metadata/\(newest)")
        #expect(json["signed", Self.member] == ["level": 9_007_199_254_740_991])
    }

    /// Whoever signed two packs as one version is looked for where the file is.
    @Test func twoPacksOfOneVersion() async throws {
        let third = try await testSite.newestFile(of: "targets")
        try await testSite.forgeTargets { signed in
            let old: JSONValue = try folder.json("vault/site/metadata/1.targets.json")
            let (newer, older) = (signed["targets"]?.members ?? [:], old["signed", "targets"]?.members ?? [:])
            let path = "packs/level.avpack"
            var record = older[path]?.members ?? [:]
            var custom = record["custom"]?.members ?? [:]
            var vault = custom["assetvault"]?.members ?? [:]
            vault["version"] = 3
            custom["assetvault"] = .object(vault)
            record["custom"] = .object(custom)
            try #require(newer[path] != nil)
            signed["targets"] = [path: .object(record)]
        }
        try folder.write("level/file", "version 4")
        let newest = try await testSite.newestFile(of: "targets")
        try await testSite.forgeTargets { signed in
            let old: JSONValue = try folder.json("vault/site/metadata/2.targets.json")
            signed["targets"] = old["signed", "targets"]
        }
        let runner = try await Runner(of: testSite)
        let words = ["level", "--version", "3"]
        let there = try await Command.run(["restore", runner.vault, "--against", runner.host] + words)
        there.failed(76, naming: "two packs were signed as version 3")
        #expect([third, newest].contains { there.errorText.contains("\(runner.host)/metadata/\($0)") })
    }
}

/// A team's role carries its numbers itself.
struct GivenVersionOfATeamTests {
    /// They may be more than members that nobody knows, if they are numbers.
    @Test func manyPacks() async throws {
        let studio = try await Studio()
        let many = (0..<5_000).map { ("dlc1/withdrawn-\($0)", JSONValue.integer(1)) }
        try await studio.forgeTeam(version: 2) { $0["x-last-versions"] = .object(JSONObject(lastWins: many)) }
        let result = try await studio.testSite.publish()
        #expect(!result.errorText.contains("stays at version"), "\(result.errorText)")
        try await studio.forgeTeam(version: 3) {
            $0["x-last-versions"] = .object(JSONObject(lastWins: many + [("dlc1/one", "text")]))
        }
        try await studio.keepsTheLast(naming: "its signed part has", "of unknown members")
    }
}
