import Foundation
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

    /// Equal files conflict with nothing, and variants are never used together.
    @Test func pathsOfTwoPacks() async throws {
        for (name, content) in [("a", "one"), ("b", "two"), ("c", "one"), ("d", "longer"), ("e", "two")] {
            try folder.write("\(name)/shared/file", content)
            try folder.write("\(name)/of-\(name)", name)
        }
        var packs: JSONObject = [:]
        for name in ["a", "b", "c", "d", "e"] {
            var pack: JSONObject = ["source": .string(folder[name])]
            if ["a", "e"].contains(name) { pack["traits"] = ["kind": .string(name)] }
            packs[name] = .object(pack)
        }
        try testSite.settings { $0["packs"] = .object(packs) }
        let conflicts = try #require(try await plan()["conflicts"]?.elements)
        #expect(conflicts.count == 2, "\(conflicts)")
        #expect(conflicts.contains(["path": "shared/file", "packs": ["a", "b"]]))
        #expect(conflicts.contains(["path": "shared/file", "packs": ["a", "d"]]))
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
}
