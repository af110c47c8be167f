import FaultServer
import Foundation
import StrictJSON
import Testing
import VaultCrypto

/// Resource trees: the tool makes packs of the files by their tags and traits.
@Suite(.timeLimit(.minutes(5))) struct TaggedResourceTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A game with five levels; textures of all levels come in three scales, texts in two languages.
    init() async throws {
        testSite = try await TestSite()
        for level in 1...5 { try folder.write("game/level\(level)/map", "the map of level \(level)") }
        for scale in 1...3 { try folder.write("game/shared/sky@\(scale)x", "the sky at \(scale)x") }
        for language in ["de", "en"] { try folder.write("game/texts/\(language)", "texts in \(language)") }
        try folder.write("game/notes", "in no pack")
        try declare(rules: Self.rules)
    }

    private static let levels = (1...5).map { JSONValue.string("level\($0)") }

    private static let rules: [JSONValue] =
        (1...5).map { ["paths": .string("level\($0)/**"), "tags": [.string("level\($0)")]] }
        + [["paths": ["shared/**", "texts/**"], "tags": .array(levels)]]
        + (1...3).map { ["paths": .string("*@\($0)x"), "traits": ["scale": .integer($0)]] }
        + ["de", "en"].map { ["paths": .string("texts/\($0)"), "traits": ["language": .string($0)]] }

    private func declare(rules: [JSONValue], _ change: (inout JSONObject) -> Void = { _ in }) throws {
        var tree: JSONObject = [
            "source": .string(folder["game"]), "rules": .array(rules), "initial": ["level1"],
            "prefetch": ["level3", "level2"],
            "traits": [
                "scale": ["match": "nearest"], "language": ["match": "language", "fallback": ["en"]],
            ],
        ]
        change(&tree)
        try testSite.settings { $0["resources"] = ["game": .object(tree)] }
    }

    private func packs() async throws -> [String: JSONValue] {
        let answer = try await Command.run("list", testSite.site, "--json").succeeded()
        let packs = try #require(try answer.json()["packs"]?.elements)
        return Dictionary(uniqueKeysWithValues: packs.map { ($0["id"]?.text ?? "", $0) })
    }

    private static let shared = "game/level1.level2.level3.level4.level5"

    @Test func onePackForEachSetOfTagsAndTraits() async throws {
        let result = try await testSite.publish()
        #expect(result.errorText.contains("1 file of 'game'"), "\(result.errorText)")
        let packs = try await packs()
        #expect(
            Set(packs.keys)
                == Set(
                    (1...5).map { "game/level\($0)" } + (1...3).map { "\(Self.shared)/scale-\($0)" }
                        + ["de", "en"].map { "\(Self.shared)/language-\($0)" }))
        #expect(packs["game/level1"]?["policy"]?.text == "essential")
        #expect(packs["game/level2"]?["policy"]?.text == "prefetch")
        #expect(packs["game/level4"]?["policy"]?.text == "onDemand")
        #expect(packs["\(Self.shared)/scale-2"]?["policy"]?.text == "essential")
        #expect(packs["\(Self.shared)/scale-2"]?["traits"] == ["scale": 2])
        try await testSite.fetch(nil, "--all").succeeded()
        #expect(try await testSite.tree(of: "game/level3").files == ["level3/map"])
    }

    /// Texts and tags may stand where artists work.
    @Test func aFolderHasLabelsOfItsOwn() async throws {
        try folder.write("game/level2/music/theme.ogg", "a tune")
        try folder.write("game/level2/music/.assetvault.json", #"{"tags": ["music"]}"#)
        try folder.write(
            "game/level3/.assetvault.json", #"{"rules": [{"paths": "*.ogg", "tags": ["music"]}]}"#)
        try folder.write("game/level3/deep/theme.ogg", "a tune")
        try await testSite.publish()
        try await testSite.fetch(nil, "--all").succeeded()
        #expect(try await testSite.tree(of: "game/level2.music").files == ["level2/music/theme.ogg"])
        #expect(try await testSite.tree(of: "game/level3.music").files == ["level3/deep/theme.ogg"])
        #expect(try await testSite.tree(of: "game/level3").files == ["level3/map"])
    }

    /// Each mistake is named with its line and column, and the nearest name.
    @Test(arguments: [
        (#"[{"paths": "*", "tags": ["a", "a"]}]"#, "twice"),
        (#"[{"paths": "*", "tags": [""]}]"#, "can't be a tag"),
        ("[{\"paths\": \"*\", \"tags\": [\"e\u{301}\"]}]", "normalisation form C"),
        (#"[{"paths": "*", "tags": [["a"]]}]"#, "not a string"),
        (#"[{"paths": [], "tags": ["a"]}]"#, "nothing"),
        (#"[{"paths": "*"}]"#, "neither tags nor traits"),
        (#"[{"paths": "*", "tags": ["a"], "traits": {"scal": 2}}]"#, "did you mean 'scale'"),
        (#"[{"paths": "*", "tags": ["a"], "traits": {"scale": "big"}}]"#, "integer"),
        (#"[{"paths": "*", "tags": ["menu", "levl1"]}]"#, "did you mean 'levl1'"),
        (#"[{"paths": "*", "traits": {"language": "d\u0001"}}]"#, "can't be a trait's value"),
        (#"[{"path": "*", "tags": ["a"]}]"#, "did you mean 'paths'"),
        (#"[{"paths": "*", "tagByFolder": "*"}]"#, "both"),
        (#"[{"tagByFolder": "level1"}]"#, "which folders give tags"),
        (#"[{"tagByFolder": "level1/a*"}]"#, "which folders give tags"),
        (#"[{"tagByFolder": "/*"}]"#, "which folders give tags"),
        (#"[{"tagByFolder": "*/*"}]"#, "which folders give tags"),
        (#"[{"paths": "*", "tags": ["a"], "traits": {"language": "de_AT"}}]"#, "language tag"),
        (#"[{"paths": "*", "tags": ["a"], "traits": {"language": "4711"}}]"#, "language tag"),
        (#"[{"paths": "*", "tags": ["a"], "traits": {"language": ""}}]"#, "empty"),
    ])
    func mistakesAreNamed(rules: String, expected: String) async throws {
        let rules = try JSONValue(parsing: Array(rules.utf8).span, place: "rules")
        try declare(rules: rules.elements ?? [])
        let result = try await Command.run("publish", testSite.vault)
        #expect(result.exitCode == 64 || result.exitCode == 65)
        #expect(result.errorText.contains(expected), "\(result.errorText)")
        #expect(result.errorText.contains("vault.json"), "\(result.errorText)")
        #expect(try folder.names(in: "vault/site/targets") == [])
    }

    /// Two texts that Unicode takes for the same are no two tags.
    @Test func tagsAreInOneForm() async throws {
        try declare(rules: [["paths": "*", "tags": ["\u{e9}"]]]) { $0["prefetch"] = ["\u{e9}", "e\u{301}"] }
        try await Command.run("plan", testSite.vault).failed(64, naming: "normalisation form C")
    }

    /// The settings of a tree name only tags that files have, and the error says where another one stands.
    @Test(arguments: ["initial", "prefetch", "preservation"]) func tagsThatNoFileHas(member: String)
        async throws
    {
        try declare(rules: [["paths": "*", "tags": ["a"]]]) {
            ($0["initial"], $0["prefetch"]) = (nil, nil)
            $0[member] = member == "preservation" ? ["b": 10] : ["b"]
        }
        let result = try await Command.run("plan", testSite.vault)
        result.failed(64, naming: "has the tag 'b', which is in \"\(member)\"", "use one of a")
        #expect(result.errorText.contains(#/vault\.json:\d+:\d+: game: /#), "\(result.errorText)")
    }

    /// The same for the declarations of traits.
    @Test(arguments: [
        (#"{"scale": {"match": "nearest", "falback": ["1"]}}"#, "did you mean 'fallback'"),
        (#"{"scale": {"mach": "nearest"}}"#, "did you mean 'match'"),
        (#"{"": {"match": "nearest"}}"#, "can't be a trait's name"),
        (#"{"a\u0007": {"match": "nearest"}}"#, "can't be a trait's name"),
        (#"{"language": {"match": "language", "fallback": ["en_US"]}}"#, "language tag"),
        (#"{"language": {"match": "language", "fallback": ["englishlanguage"]}}"#, "language tag"),
        (#"{"language": {"match": "language", "fallback": [""]}}"#, "empty"),
        (#"{"texture": {"match": "word", "fallback": [""]}}"#, "empty"),
        (#"{"texture": {"match": "word", "fallback": [1]}}"#, "an integer, not a string; correct it"),
        (#"{"texture": {"match": "word", "fallback": ["a\u0001"]}}"#, "can't be a trait's value"),
        (
            #"{"texture": {"match": "word", "fallback": ["\#(String(repeating: "x", count: 65))"]}}"#,
            "can't be a trait's value"
        ),
        (
            #"{"texture": {"match": "word", "fallback": [\#((0..<33).map { "\"\($0)\"" }.joined(separator: ","))]}}"#,
            "more than 32"
        ),
        (#"{"texture": {"match": 1}}"#, "an integer, not a string; correct it"),
        (#"{"texture": {}}"#, "\"match\" is missing; add it"),
    ])
    func mistakesInTraitsAreNamed(traits: String, expected: String) async throws {
        let traits = try JSONValue(parsing: Array(traits.utf8).span, place: "traits")
        try declare(rules: [["paths": "*", "tags": ["a"]]]) { $0["traits"] = traits }
        let result = try await Command.run("plan", testSite.vault)
        #expect(result.exitCode == 64 || result.exitCode == 65)
        #expect(result.errorText.contains(expected), "\(result.errorText)")
        #expect(result.errorText.contains("vault.json:"), "\(result.errorText)")
    }

    /// The same in a folder's own file, whose name stands there.
    @Test(arguments: [
        (#"{"tag": ["a"]}"#, "1:2", "did you mean 'tags'"),
        (#"{"tags": ["a", "a"]}"#, "1:16", "twice"),
        (#"{"traits": {"scal": 1}}"#, "1:13", "did you mean 'scale'"),
        (#"{"rules": [{"paths": [], "tags": ["a"]}]}"#, "1:22", "nothing"),
        (#"{"tags": ["a"]"#, "1:15", "too early"),
        ("[]", "1:1", "not an object"),
    ])
    func mistakesInAFolderAreNamed(text: String, position: String, expected: String) async throws {
        try folder.write("game/level2/.assetvault.json", text)
        let result = try await Command.run("publish", testSite.vault)
        #expect(result.exitCode == 64 || result.exitCode == 65)
        #expect(result.errorText.contains("level2/.assetvault.json:\(position)"), "\(result.errorText)")
        #expect(result.errorText.contains(expected), "\(result.errorText)")
        #expect(try folder.names(in: "vault/site/targets") == [])
    }

    /// Rules have no order of their own, and a folder's file counts as they do.
    @Test func twoValuesOfOneTrait() async throws {
        try declare(rules: Self.rules + [["paths": "shared/sky@2x", "traits": ["scale": 4]]])
        let rules = try await Command.run("plan", testSite.vault)
        rules.failed(64, naming: "'shared/sky@2x' gets two values for the trait 'scale': 2 and 4")
        #expect(rules.errorText.contains("vault.json:"), "\(rules.errorText)")
        try declare(rules: Self.rules)
        try folder.write("game/shared/.assetvault.json", #"{"traits": {"scale": 3}}"#)
        let own = try await Command.run("plan", testSite.vault)
        own.failed(64, naming: "two values for the trait 'scale'")
        #expect(own.errorText.contains("shared/.assetvault.json:1:1"), "\(own.errorText)")
    }

    /// A tag that looks like the digest of another one: an ID stands for one pack (G11).
    @Test func twoSetsOfOneID() async throws {
        let digest = SHA256.hash(Array(#"["X"]"#.utf8).span).hex.prefix(8)
        try declare(rules: [
            ["paths": "level1/**", "tags": ["X"]], ["paths": "level2/**", "tags": [.string("x-\(digest)")]],
        ]) { ($0["initial"], $0["prefetch"]) = (nil, nil) }
        let result = try await Command.run("plan", testSite.vault)
        result.failed(64, naming: "'game/x-\(digest)' would stand for both")
    }

    /// Prefetched packs come in the listed order.
    @Test func prefetchedInTheListedOrder() async throws {
        try await testSite.publish()
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--parallel", "1").succeeded()
        var asked: [String] = []
        for exchange in server.packs {
            let name = exchange.request.path.split(separator: ".").dropFirst().joined(separator: ".")
            if asked.last != name { asked.append(name) }
        }
        let prefetched = asked.filter { ["level2.avpack", "level3.avpack"].contains($0) }
        #expect(prefetched == ["level3.avpack", "level2.avpack"], "\(asked)")
        #expect(!asked.contains("level4.avpack"))
    }

    /// A device gets the variant that fits it, and when it changes the difference.
    @Test func aDeviceGetsItsVariants() async throws {
        try await testSite.publish()
        let device = ["--device", "scale=2", "--device", "language=de-AT"]
        func loaded() async throws -> Set<String> {
            Set(
                try await testSite.status().filter {
                    $0.value.version != nil && $0.key.hasPrefix(Self.shared)
                }.keys)
        }
        let arguments =
            ["fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root] + testSite.keys
        try await Command.run(arguments + device).succeeded()
        #expect(try await loaded() == ["\(Self.shared)/scale-2", "\(Self.shared)/language-de"])
        try await Command.run(arguments + ["--device", "scale=4", "--device", "language=fr"]).succeeded()
        #expect(
            try await loaded() == [
                "\(Self.shared)/scale-2", "\(Self.shared)/language-de", "\(Self.shared)/scale-3",
                "\(Self.shared)/language-en",
            ])
        let purgeable = try await testSite.status().filter(\.value.isPurgeable).keys.sorted()
        #expect(purgeable == ["\(Self.shared)/language-de", "\(Self.shared)/scale-2"])
        try await Command.run(arguments + device).succeeded()
        let others = try await testSite.status().filter(\.value.isPurgeable).keys.sorted()
        #expect(others == ["\(Self.shared)/language-en", "\(Self.shared)/scale-3"])
    }

    /// Limits count what the device gets, not what it had.
    @Test func theReplacedVariantCountsForNoLimit() async throws {
        for scale in 1...3 {
            try folder.write("game/shared/sky@\(scale)x", Bytes.random(100_000, seed: UInt64(scale)))
        }
        try await testSite.publish()
        let arguments =
            [
                "fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root,
                "--essential-size", "150000",
            ]
            + testSite.keys + ["--device", "language=de", "--device"]
        for scale in 1...3 {
            let result = try await Command.run(arguments + ["scale=\(scale)"])
            #expect(result.exitCode == 0, "\(result.errorText)")
            #expect(try await testSite.status()["\(Self.shared)/scale-\(scale)"]?.version == 1)
        }
        let all = try await Command.run(arguments.dropLast(3) + ["--device", "all"])
        #expect(all.exitCode == 78, "\(all.errorText)")
    }

    /// A team that may list packs of a tree could replace variants of it.
    @Test(arguments: [
        ("packs/game/*", true), ("packs/*/dlc", true), ("packs/game/dlc/*", true), ("packs/dlc/*", false),
        ("packs/*", false),
    ])
    func noTeamListsPacksOfATree(pattern: String, isRefused: Bool) async throws {
        try testSite.settings {
            $0["teams"] = [
                "studio": ["paths": [.string(pattern)], "keys": ["studio.pub.pem"], "site": "studio"]
            ]
        }
        let result = try await Command.run("plan", testSite.vault)
        #expect(result.exitCode == (isRefused ? 64 : 0), "\(result.errorText)")
        #expect(result.errorText.contains("may list packs of the resources 'game'") == isRefused)
    }

    /// A pack that leaves a tree gets a content key of its own, and its numbers go on.
    @Test func aPackThatLeavesATree() async throws {
        try await testSite.publish()
        func keyID(of id: String) async throws -> String? {
            let pack = try testSite.publishedPack(id)
            return try await Command.run("inspect", "\(testSite.site)/\(pack)", "--json").succeeded().json()[
                "contentKeyID"]?
                .text
        }
        let shared = try await keyID(of: "game/level3")
        #expect(try await keyID(of: "game/level4") == shared)
        try testSite.settings {
            $0["resources"] = nil
            $0["packs"] = ["game/level3": ["source": .string(folder["game/level3"])]]
        }
        try await testSite.publish()
        #expect(try await keyID(of: "game/level3") != shared)
        #expect(try await packs()["game/level3"]?["version"]?.number == 2)
        try declare(rules: Self.rules)
        try testSite.settings { $0["packs"] = [:] }
        try await testSite.publish()
        #expect(try await packs()["game/level3"]?["version"]?.number == 3)
    }

    /// What a family claims is verified when its listing is read.
    @Test func listedFamiliesAreChecked() async throws {
        try await testSite.publish()
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys)
        #expect(audit.exitCode == 0, "\(audit.errorText)")
        let pack = try testSite.publishedPack("game/level3")
        let one = try await Command.run(
            ["audit", "\(testSite.site)/\(pack)", "--site", testSite.site, "--trust", testSite.root]
                + testSite.keys)
        #expect(one.exitCode == 0, "\(one.errorText)")
        #expect(one.text.contains("game/level3"), "\(one.text)")
    }
}
