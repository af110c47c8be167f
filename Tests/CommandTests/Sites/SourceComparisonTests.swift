import FaultServer
import Foundation
import Sampling
import StrictJSON
import Testing

/// What `plan` says of several sources, and of what is published.
@Suite(.timeLimit(.minutes(5))) struct SourceComparisonTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    private func plan(_ arguments: String...) async throws -> JSONValue {
        try await Command.run(["plan", testSite.vault, "--json"] + arguments).succeeded().json()
    }

    /// Equal files conflict with nothing, variants are never used together, and packs without a common tag no request shows as one tree.
    @Test(arguments: [
        (["x", "x", "x", "x", "x"], [["a", "b"], ["a", "d"]]), (["", "", "", "", ""], []),
        (["x", "y", "x", "y", "y"], [["b", "d"]]),
        (["x", "x y", "z", "y", "z"], [["a", "b"], ["b", "d"], ["c", "e"]]),
    ])
    func pathsOfTwoPacks(tags: [String], found: [[String]]) async throws {
        for (name, content) in [("a", "one"), ("b", "two"), ("c", "one"), ("d", "longer"), ("e", "two")] {
            try folder.write("\(name)/shared/file", content)
            try folder.write("\(name)/of-\(name)", name)
        }
        var packs: JSONObject = [:]
        for (name, tags) in zip(["a", "b", "c", "d", "e"], tags) {
            var pack: JSONObject = [
                "source": .string(folder[name]),
                "tags": .array(tags.split(separator: " ").map { .string(String($0)) }),
            ]
            if ["a", "e"].contains(name) { pack["traits"] = ["kind": .string(name)] }
            packs[name] = .object(pack)
        }
        try testSite.settings { $0["packs"] = .object(packs) }
        let conflicts = try #require(try await plan()["conflicts"]?.elements)
        #expect(conflicts.allSatisfy { $0["path"] == "shared/file" })
        let pairs = conflicts.map { ($0["packs"]?.elements ?? []).compactMap(\.text) }
        #expect(Set(pairs) == Set(found), "\(conflicts)")
    }

    @Test(
        arguments: [
            (["x": 100, "y": 100], true), (["x": 100, "y": 99], false), (["x": 100], false),
        ] as [(JSONValue, Bool)])
    func everythingIsPreserved(preservation: JSONValue, isWarned: Bool) async throws {
        for name in ["x", "y"] { try folder.write("tree/\(name)", name) }
        try testSite.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(folder["tree"]), "preservation": preservation,
                    "rules": [["paths": "x", "tags": ["x"]], ["paths": "y", "tags": ["y"]]],
                ])
            ]
        }
        let findings = try #require(try await plan()["findings"]?.elements)
        #expect(findings.contains { $0["problem"]?.text?.contains("preservation") ?? false } == isWarned)
        try await testSite.publish()
        let listed = try folder.json("vault/site/metadata/1.targets.json")[
            "signed", "targets", "packs/game/x.avpack", "custom", "assetvault", "preservation"]
        #expect(listed == 100)
    }

    /// The same bytes as `publish --dry-run` says, and as a client downloads.
    @Test func updatesOfDevices() async throws {
        let text = (0..<40_000).map { "line \($0)\n" }.joined()
        try folder.write("a/file", text)
        try folder.write("b/file", "unchanged")
        try await testSite.publish("--pack", "a=\(folder["a"])", "--pack", "b=\(folder["b"])")
        #expect(try await plan("--updates")["devices"]?.elements?.first?["updateLength"] == 0)
        try folder.write("a/file", text + "more")
        let before = try Tree(testSite.vault)
        let planned = try await plan("--updates")
        #expect(try Tree(testSite.vault) == before)
        let report = try await Command.run("publish", testSite.vault, "--dry-run", "--json").succeeded()
            .json()
        let cost = report["packs"]?.elements?.first { $0["id"] == "a" }?["updates"]?.elements?.first?["bytes"]
        #expect(planned["devices"]?.elements?.first?["updateLength"] == cost)
        #expect(cost?.number ?? 0 > 0)
    }

    private func declareTree(_ change: (inout JSONObject) -> Void = { _ in }) throws {
        try testSite.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(folder["tree"]),
                    "rules": [
                        ["paths": "one/**", "tags": ["one"]], ["paths": "two/**", "tags": ["two"]],
                        ["paths": "new/**", "tags": ["new"]],
                    ],
                ])
            ]
            change(&$0)
        }
    }

    private func updateLength(of id: String, in plan: JSONValue) throws -> Int64 {
        let pack = try #require(plan["packs"]?.elements?.first { $0["id"]?.text == id })
        return try #require(pack["updateLength"]?.number)
    }

    /// A file that moves to another pack of its tree, also to a new one, is not downloaded again, and not counted.
    @Test(arguments: ["two", "new"])
    func updateOfAMovedFile(destination: String) async throws {
        try folder.write("tree/one/film", Bytes.random(3_000_000, seed: 1))
        try folder.write("tree/one/map", Bytes.random(400_000, seed: 2))
        try folder.write("tree/two/map", Bytes.random(400_000, seed: 3))
        try declareTree()
        try await testSite.publish()
        try await testSite.fetch(nil, "--all", "--sealed").succeeded()
        try folder.makeFolder("tree/new")
        try FileManager.default.moveItem(
            atPath: folder["tree/one/film"], toPath: folder["tree/\(destination)/film"])
        let planned = try await plan("--updates")
        let said = try #require(planned["devices"]?.elements?.first?["updateLength"]?.number)
        #expect(said < 50_000, "\(said)")
        try await testSite.publish()
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--all", "--sealed").succeeded()
        #expect(server.packBytes == Int(said))
    }

    /// Costs stand with the declared IDs.
    @Test func updatesWithQuietNames() async throws {
        try folder.write("a/file", Bytes.random(500_000, seed: 1))
        for name in ["one", "two"] { try folder.write("tree/\(name)/file", Bytes.random(300_000, seed: 2)) }
        try declareTree {
            $0["quietNames"] = true
            $0["packs"] = ["a": ["source": .string(folder["a"])]]
        }
        try await testSite.publish()
        try folder.write("a/file", Bytes.random(500_000, seed: 4))
        try folder.write("tree/one/other", Bytes.random(200_000, seed: 5))
        let planned = try await plan("--updates")
        let report = try await Command.run("publish", testSite.vault, "--dry-run", "--json").succeeded()
            .json()
        for (id, least) in [("a", 500_000), ("game/one", 200_000)] as [(String, Int64)] {
            let pack = try #require(report["packs"]?.elements?.first { $0["name"]?.text == id })
            let cost = try #require(pack["updates"]?.elements?.first?["bytes"]?.number)
            #expect(cost >= least)
            #expect(try updateLength(of: id, in: planned) == cost)
        }
        #expect(try updateLength(of: "game/two", in: planned) == 0)
    }

    /// Of very many packs not all costs are computed, and both commands say so.
    @Test(.enabled(if: Sampling.isWhole)) func updatesOfVeryManyPacks() async throws {
        let packs = try (0..<1002).map { number -> (String, JSONValue) in
            try folder.write("many/\(number)/file", "content")
            return ("p\(number)", ["source": .string(folder["many/\(number)"])])
        }
        try testSite.settings { $0["packs"] = .object(JSONObject(lastWins: packs)) }
        try await testSite.publish()
        for number in 0..<1002 { try folder.write("many/\(number)/file", "changed") }
        let plan = try await Command.run("plan", testSite.vault, "--updates").succeeded()
        #expect(plan.errorText.contains("2 more packs changed"), "\(plan.errorText)")
        let publish = try await Command.run("publish", testSite.vault, "--dry-run").succeeded()
        #expect(publish.errorText.contains("2 more packs changed"), "\(publish.errorText)")
    }

    /// A file of one pack in the place of another's folder: read as one tree, one of them is hidden.
    @Test func aFileInThePlaceOfAFolder() async throws {
        for (source, path) in [
            ("a", "x"), ("b", "x/below"), ("b", "x/deeper/below"), ("a", "y/z/below"), ("b", "y/z"),
            ("a", "same/file"),
            ("b", "same/other"),
        ] {
            try testSite.folder.write("clash-\(source)/\(path)", source)
        }
        try testSite.folder.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {"a": {"source": "../clash-a", "tags": ["x"]}, "b": {"source": "../clash-b", "tags": ["x"]}}}
            """)
        let conflicts = try #require(try await plan()["conflicts"]?.elements)
        #expect(
            conflicts.map { $0["path"]?.text } == ["x", "y/z"]
                && conflicts.allSatisfy { $0["packs"] == ["a", "b"] },
            "\(conflicts)")
    }
}
