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

    private func declare(_ names: String...) throws {
        try testSite.settings { settings in
            let packs = names.map { ($0, JSONValue.object(["source": .string("../\($0)")])) }
            settings["packs"] = .object(JSONObject(lastWins: packs))
        }
    }

    /// What the newest metadata of a role says of numbers.
    private func recorded(in vault: String = "vault", _ role: String = "targets") throws -> JSONValue? {
        let versions = try folder.names(in: "\(vault)/site/metadata").compactMap {
            $0.hasSuffix(".\(role).json") ? Int($0.prefix { $0 != "." }) : nil
        }
        let newest = try #require(versions.max())
        let json: JSONValue = try folder.json("\(vault)/site/metadata/\(newest).\(role).json")
        return json["signed", Self.member]
    }

    private func publish(_ vault: String? = nil, _ options: [String] = []) async throws -> String {
        try await Command.run(["publish", vault ?? testSite.vault] + options).succeeded().text
    }

    /// The next publication has the settings of before: the decision is undone, but the number is a new one.
    @Test(arguments: [["level", "--version", "2"], ["--channel", "live", "--to", "2"]], [false, true])
    func aDecisionThatGotLost(restored: [String], onARunner: Bool) async throws {
        let settings = try folder.bytes("vault/vault.json")
        let runner = onARunner ? try await Runner(of: testSite) : nil
        let host = runner.map { ["--against", $0.host] } ?? []
        let result = try await Command.run(
            ["restore", runner?.vault ?? testSite.vault] + restored + host
        ).succeeded()
        #expect(result.errorText.contains("commit it, or the next publication"), "\(result.errorText)")
        try await runner?.upload()
        #expect(try recorded(in: onARunner ? "runner/vault" : "vault") == ["level": 3])
        try folder.write("vault/vault.json", settings)
        let next = onARunner ? try await Runner(of: testSite, named: "next") : nil
        let text = try await publish(next?.vault, host)
        #expect(text.contains("level  version 4"), "\(text)")
        #expect(try recorded(in: onARunner ? "next/vault" : "vault") == nil)
    }

    /// A decision that `vault.json` has already needs no commit.
    @Test func theSameDecisionAgain() async throws {
        for isFirst in [true, false] {
            let result = try await Command.run("restore", testSite.vault, "level", "--version", "2")
                .succeeded()
            #expect(result.errorText.contains("commit it") == isFirst, "\(result.errorText)")
        }
    }

    /// The metadata that listed the pack are gone.
    @Test(arguments: [false, true]) func aWithdrawnPack(onARunner: Bool) async throws {
        try declare()
        try await testSite.publish()
        #expect(try recorded() == ["level": 3])
        try folder.write("other/file", "other")
        try declare("other")
        try await testSite.publish()
        for number in 1...4 {
            try FileManager.default.removeItem(atPath: "\(testSite.site)/metadata/\(number).targets.json")
        }
        try declare("other", "level")
        let runner = onARunner ? try await Runner(of: testSite) : nil
        let text = try await publish(runner?.vault, runner.map { ["--against", $0.host] } ?? [])
        #expect(text.contains("level  version 4"), "\(text)")
        #expect(try recorded(in: onARunner ? "runner/vault" : "vault") == nil)
    }

    /// Numbers of each channel count, also of one that is there no more.
    @Test func channels() async throws {
        try testSite.settings { $0["channels"] = ["dev", "live"] }
        try await testSite.publish()
        let dev = ["--from", "dev", "--to", "live", "--all"]
        try await Command.run("restore", testSite.vault, "level", "--version", "2").succeeded()
        #expect(try recorded() == nil)
        try await Command.run(["promote", testSite.vault, "--allow-older"] + dev).succeeded()
        #expect(try recorded() == ["level": 3])
        try testSite.settings { settings in
            settings["channels"] = ["live"]
            settings["packs"] = ["level": ["source": "../level"]]
        }
        try folder.write("level/file", "version 4")
        #expect(try await publish().contains("level  version 4"))
        #expect(try recorded() == nil)
    }

    /// What an upload left without the timestamp may have been read: other content gets another number, and the same content no
    /// second one.
    @Test(arguments: [false, true], [nil, 2] as [Int64?])
    func anUnfinishedUpload(hasChange: Bool, bins: Int64?) async throws {
        try testSite.settings { $0["bins"] = bins.map { .integer($0) } }
        if bins != nil { try await testSite.publish() }
        try folder.write("level/file", "version 4")
        try folder.write("new/file", "new")
        try declare("level", "new")
        let first = try await Runner(of: testSite, named: "first")
        try await first.publish(first.host).succeeded()
        let timestamp = try folder.bytes("host/metadata/timestamp.json")
        try await first.upload()
        try folder.write("host/metadata/timestamp.json", timestamp)
        if hasChange {
            try folder.write("level/file", "version 5")
            try declare("level")
        }
        let second = try await Runner(of: testSite, named: "second")
        let text = try await second.publish(second.host).succeeded().text
        #expect(text.contains("level  version \(hasChange ? 5 : 4)"), "\(text)")
        let files = try [first, second].map { runner in
            try runner.written().filter { $0.hasSuffix(".level.avpack") }
        }
        #expect((files[0] == files[1]) != hasChange, "\(files)")
        try await second.upload()
        try await Command.run(["audit", second.host] + testSite.keys).succeeded()
        guard hasChange else {
            // Its content key was another one.
            return #expect(text.contains("new  version 2"), "\(text)")
        }
        try folder.write("new/file", "declared again")
        try declare("level", "new")
        let third = try await Runner(of: testSite, named: "third")
        let again = try await third.publish(third.host).succeeded().text
        #expect(again.contains("new  version 2"), "\(again)")
    }

    /// The same where a publication was killed: the vault has its targets, and the timestamp of before.
    @Test(arguments: [false, true]) func aKilledPublication(hasChange: Bool) async throws {
        let files = ["site/metadata/timestamp.json", ".published"]
        let before = try files.map { try folder.bytes("vault/\($0)") }
        try folder.write("level/file", "version 4")
        try await testSite.publish()
        let pack = try testSite.publishedPack("level")
        for (name, bytes) in zip(files, before) { try folder.write("vault/\(name)", bytes) }
        let snapshot = try await testSite.newestFile(of: "snapshot")
        #expect(snapshot == "3.snapshot.json")
        if hasChange { try folder.write("level/file", "version 5") }
        #expect(try await publish().contains("level  version \(hasChange ? 5 : 4)"))
        #expect(try (testSite.publishedPack("level") == pack) != hasChange)
        try await testSite.fetch().succeeded()
    }

    /// What is signed in `pending/` has its number, also when it is given up; nobody can have what is not signed, and its name shows
    /// nowhere.
    @Test(arguments: [false, true]) func aDraft(isSigned: Bool) async throws {
        let key = try testSite.takeAway("targets.pem")
        func sign() async throws {
            let name = try #require(try testSite.pending().first { $0.hasSuffix(".targets.json") })
            try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key).succeeded()
        }
        try folder.write("level/file", "version 4")
        try folder.write("new/file", "new")
        try declare("level", "new")
        try await Command.run("publish", testSite.vault).failed(77)
        if isSigned { try await sign() }
        try declare()
        for _ in 1...2 { try await Command.run("publish", testSite.vault).failed(77) }
        try await sign()
        try await testSite.publish()
        #expect(try recorded() == (isSigned ? ["level": 4, "new": 1] : ["level": 3]))
    }

    /// With quiet names no number has a readable name beside it, and all numbers are new ones again without them.
    @Test(arguments: [nil, 2] as [Int64?]) func quietNames(bins: Int64?) async throws {
        for (round, highest) in [(1, 3), (2, 4)] {
            try declare("level")
            try testSite.settings {
                $0["quietNames"] = true
                $0["bins"] = bins.map { .integer($0) }
            }
            try await testSite.publish()
            let json = try #require(try recorded()?.members)
            #expect(json["assetvault.hidden"] == .integer(Int64(highest)), "\(round): \(json)")
            let newest = try await testSite.newestFile(of: "targets")
            let text = String(decoding: try folder.bytes("vault/site/metadata/\(newest)"), as: UTF8.self)
            #expect(!text.contains("level"), "\(text)")
            try testSite.settings { $0["quietNames"] = false }
            let published = try await publish()
            #expect(published.contains("level  version \(highest + 1)"), "\(published)")
        }
        let runner = try await Runner(of: testSite)
        try folder.write("level/file", "on a runner")
        let text = try await publish(runner.vault, ["--against", runner.host])
        #expect(text.contains("level  version 6"), "\(text)")
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
        try declare("gone")
        #expect(try await publish().contains("gone  version 8"))
        #expect(try recorded() == ["level": 9_007_199_254_740_991])
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
    @Test func aWithdrawnPack() async throws {
        let studio = try await Studio()
        let folder = studio.folder
        try studio.declareTeam([:])
        try await studio.publishTeam()
        try FileManager.default.removeItem(atPath: folder["team/site/metadata/1.dlc1.json"])
        let json: JSONValue = try folder.json("team/site/metadata/2.dlc1.json")
        #expect(json["signed", "x-last-versions"] == ["dlc1/one": 1])
        try await studio.testSite.publish()
        try folder.write("one/file", "declared again")
        try studio.declareTeam(["dlc1/one": [:]])
        let result = try await Command.run("publish", studio.team).succeeded()
        #expect(result.text.contains("dlc1/one  version 2"), "\(result.text)")
        try await studio.testSite.publish()
        try await studio.testSite.fetch().succeeded()
    }

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
