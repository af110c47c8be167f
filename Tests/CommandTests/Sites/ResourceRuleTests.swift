import Foundation
import StrictJSON
import Testing

/// Which files the rules of a resource tree name, and what it costs.
@Suite(.timeLimit(.minutes(5))) struct ResourceRuleTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    private func declare(rules: [JSONValue], _ members: JSONObject = [:]) throws {
        var tree: JSONObject = ["source": .string(folder["game"]), "rules": .array(rules)]
        for (name, value) in members { tree[name] = value }
        try testSite.settings { $0["resources"] = ["game": .object(tree)] }
    }

    /// The packs and their numbers of files.
    private func planned() async throws -> [String: Int64] {
        let answer = try await Command.run("plan", testSite.vault, "--json").succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return Dictionary(
            uniqueKeysWithValues: packs.map { ($0["id"]?.text ?? "", $0["entries"]?.number ?? 0) })
    }

    /// One rule for all folders, and one for what no rule names.
    @Test func foldersGiveTags() async throws {
        for path in [
            "levels/one/map", "levels/one/deep/sky", "levels/two/map", "levels/readme", "menu", "music/theme",
        ] {
            try folder.write("game/\(path)", path)
        }
        try declare(
            rules: [["tagByFolder": "levels/*"], ["paths": "sky", "tags": ["sky"]]],
            ["defaultTags": ["common"], "initial": ["common"], "prefetch": ["one"]])
        #expect(
            try await planned() == [
                "game/one": 1, "game/one.sky": 1, "game/two": 1, "game/common": 3,
            ])
        try folder.write("game/music/.assetvault.json", #"{"tags": ["music"]}"#)
        try folder.write(
            "game/levels/.assetvault.json", #"{"rules": [{"tagByFolder": "*", "tags": ["level"]}]}"#)
        try declare(rules: [["tagByFolder": "*"]], ["defaultTags": ["common"]])
        #expect(
            try await planned() == [
                "game/level.levels.one": 2, "game/level.levels.two": 1, "game/levels": 1, "game/music": 1,
                "game/common": 1,
            ])
        // A name that can't be a tag is named.
        try folder.write("game/e\u{301}/file", "")
        try await Command.run("plan", testSite.vault).failed(
            64, naming: "can't be a tag", "rename the folder")
    }

    /// Rules made by a script: a file costs the rules that it may match, and a rule's place no reading of the whole text.
    @Test(.timeLimit(.minutes(1)))
    func manyRules() async throws {
        for number in 0..<300 { try folder.write("game/\(number)/map", "\(number)") }
        let rules = (0..<22_000).map { number -> JSONValue in
            ["paths": .string("\(number)/*"), "tags": [.string("level\(number % 3)")]]
        }
        try declare(rules: rules)
        #expect(try await planned() == ["game/level0": 100, "game/level1": 100, "game/level2": 100])
    }

    /// Clients compare all tags of a pack.
    @Test func moreTagsThanAPackMayHave() async throws {
        try folder.write("game/map", "")
        for count in [256, 257] {
            try declare(rules: (0..<count).map { ["paths": "*", "tags": [.string("level\($0)")]] })
            let plan = try await Command.run("plan", testSite.vault)
            guard count == 257 else {
                try plan.succeeded()
                continue
            }
            plan.failed(64, naming: "'map' gets more than 256 tags")
        }
    }

    /// With backtracking this would take hours.
    @Test(.timeLimit(.minutes(1)))
    func manyStars() async throws {
        try folder.write(
            "game/\(String(repeating: "a", count: 200))/\(String(repeating: "a", count: 200))b", "")
        try folder.write("game/c", "")
        try declare(rules: [
            ["paths": .string(String(repeating: "**a", count: 5) + "**c"), "tags": ["a"]],
            ["paths": "c", "tags": ["c"]],
        ])
        #expect(try await planned() == ["game/c": 1])
    }
}
