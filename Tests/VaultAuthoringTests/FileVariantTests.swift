import Sampling
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultSite

@testable import VaultAuthoring

/// The packs of random trees, and what random devices get of them, against a model that looks at each file by itself.
@Suite(.timeLimit(.minutes(5))) struct FileVariantTests {
    private static let tags = [["menu"], ["level"], ["level", "menu"]]

    /// A variant of a file.
    private struct Variant {
        let file: String
        let tags: [String]
        let traits: [String: String]

        /// Such as `f1.s2.de.dat`.
        func name(without hidden: Set<String> = []) -> String {
            let marks = ["scale", "texture", "language"].filter { !hidden.contains($0) }.compactMap { name in
                traits[name].map { name == "scale" ? "s\($0)" : $0 }
            }
            return "\(file)/" + (["file"] + marks + ["dat"]).joined(separator: ".")
        }
    }

    private struct Game {
        let variants: [Variant]
        let fallbacks: [String: [String]]
        /// The traits whose values no device sees in paths.
        let hidden: Set<String>

        init(_ random: inout SeededGenerator) {
            fallbacks = SampledTraits.fallbacks(&random)
            hidden = Set(SampledTraits.values.keys.sorted().filter { _ in Bool.random(using: &random) })
            var variants: [Variant] = []
            for number in 0..<Int.random(in: 1...6, using: &random) {
                let names = SampledTraits.values.keys.sorted().shuffled(using: &random).prefix(
                    .random(in: 0...3, using: &random))
                let tags = FileVariantTests.tags.randomElement(using: &random) ?? []
                var known: Set<[String: String]> = []
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    var traits: [String: String] = [:]
                    for name in names {
                        traits[name] = SampledTraits.values[name]?.randomElement(using: &random)
                    }
                    guard known.insert(traits).inserted else { continue }
                    variants.append(Variant(file: "f\(number)", tags: tags, traits: traits))
                }
            }
            self.variants = variants
        }

        var json: JSONObject {
            var rules: [JSONValue] = Set(variants.map(\.file)).sorted().compactMap { file in
                guard let one = variants.first(where: { $0.file == file }) else { return nil }
                return ["paths": .string("\(file)/**"), "tags": .array(one.tags.map(JSONValue.string))]
            }
            for (name, texts) in SampledTraits.values.sorted(by: { $0.key < $1.key }) {
                for text in texts where variants.contains(where: { $0.traits[name] == text }) {
                    let mark = name == "scale" ? "s\(text)" : text
                    let value: JSONValue = Int64(text).map { .integer($0) } ?? .string(text)
                    var rule: JSONObject = [
                        "paths": .string("*.\(mark).*"),
                        "traits": .object(JSONObject(lastWins: [(name, value)])),
                    ]
                    if hidden.contains(name) { rule["as"] = "*.*" }
                    rules.append(.object(rule))
                }
            }
            func texts(_ name: String) -> JSONValue {
                .array(fallbacks[name, default: []].map(JSONValue.string))
            }
            return [
                "source": "none", "rules": .array(rules),
                "traits": [
                    "scale": ["match": "nearest"],
                    "language": ["match": "language", "fallback": texts("language")],
                    "texture": ["match": "word", "fallback": texts("texture")],
                ],
            ]
        }
    }

    private func tree(_ json: JSONObject) throws -> ResourceTree {
        let source = try JSONSource(parsing: JSONValue.object(json).pretty(), name: "test")
        let settings = try JSONSource(parsing: Array("{}".utf8), name: "test")
        return try ResourceTree(
            family: PackID("game"), parsing: source.located,
            Audiences(parsing: settings.located, in: VaultFolder(FilePath("/"))))
    }

    @Test func everyDeviceGetsEveryFileOnceAndBest() throws {
        var random = SeededGenerator(for: "FileVariantTests.everyDeviceGetsEveryFileOnceAndBest")
        for _ in 0..<Sampling.rounds(150, whole: 2_000) {
            let game = Game(&random)
            let folder = try TemporaryFolder()
            for variant in game.variants { try folder.write(variant.name(), []) }
            let tree = try tree(game.json)
            let source = try SourceFolder(scanning: folder.path)
            let found = try tree.packs(of: source)
            let files = try found.files(of: source)
            let offers = try found.packs.map { pack in
                try PackOffer(of: pack.id, parsing: tree.offer(of: pack.labels).json, place: "test")
            }
            let candidates = zip(found.packs, offers).map { VariantChoice.Candidate(planned: $0.id, $1) }
            struct Served: Hashable {
                let tags: [String]
                let devices: [String: TraitCondition]
            }
            #expect(Set(offers.map { Served(tags: $0.tags, devices: $0.devices) }).count == offers.count)
            #expect(found.untagged == [] && found.packs.flatMap(\.entries).count == game.variants.count)
            for _ in 0..<20 {
                let device = SampledTraits.device(&random)
                let choice = try VariantChoice(among: candidates, for: DeviceTraits(device))
                let taken = found.packs.filter { choice.takes($0.id) }
                let got = taken.flatMap(\.entries).map { files.entries[$0] }
                let best = best(of: game, for: device)
                #expect(
                    got.map(\.source.string).sorted() == best.map { $0.name() }.sorted(), "\(game) \(device)")
                #expect(
                    got.map(\.path.string).sorted() == best.map { $0.name(without: game.hidden) }.sorted())
                // What a request shows is what the other packs hold as well.
                for pack in found.packs where !choice.takes(pack.id) {
                    #expect(choice.replaced[pack.id]?.isEmpty == false)
                }
            }
        }
    }

    /// Of each file the variant with the least rank.
    private func best(of game: Game, for device: [String: [String]]) -> [Variant] {
        Dictionary(grouping: game.variants, by: \.file).values.compactMap { variants in
            variants.min {
                SampledTraits.rank($0.traits, for: device, game.fallbacks).lexicographicallyPrecedes(
                    SampledTraits.rank($1.traits, for: device, game.fallbacks))
            }
        }
    }

    /// The IDs of the packs with the paths that devices see.
    private func packs(_ files: [String], _ rules: [JSONValue]) throws -> [String: [String]] {
        let folder = try TemporaryFolder()
        for file in files {
            try folder.write(
                file,
                file.hasSuffix(".json")
                    ? Array(
                        #"{"traits": {"language": "de"}, "rules": [{"paths": "*@9x", "as": "big-*"}]}"#.utf8)
                    : [])
        }
        let tree = try tree([
            "source": "none", "rules": .array([["paths": "**", "tags": ["a"]]] + rules),
            "traits": [
                "scale": ["match": "nearest"], "language": ["match": "language"],
                "size": ["match": "nearest"],
            ],
        ])
        let source = try SourceFolder(scanning: folder.path)
        let found = try tree.packs(of: source)
        let named = try found.files(of: source)
        return Dictionary(
            uniqueKeysWithValues: found.packs.map { pack in
                (pack.id.description, pack.entries.map { named.entries[$0].path.string })
            })
    }

    /// Files of one name but for a trait's value are one file; where a pattern has the value twice or not, only `as` says so.
    @Test func whatIsOneFile() throws {
        let scales = ["a@1x", "a@2x", "b@2x"]
        func rules(_ pattern: (Int) -> String, as target: String? = nil) -> [JSONValue] {
            (1...2).map { scale in
                var rule: JSONObject = [
                    "paths": .string(pattern(scale)), "traits": ["scale": .integer(Int64(scale))],
                ]
                rule["as"] = target.map { .string($0) }
                return .object(rule)
            }
        }
        #expect(
            try packs(scales, rules { "*@\($0)x" }) == [
                "game/a": ["b@2x"], "game/a/scale-1": ["a@1x"], "game/a/scale-2": ["a@2x"],
            ])
        #expect(
            try packs(scales, rules({ "*@\($0)x" }, as: "*")) == [
                "game/a": ["b"], "game/a/scale-1": ["a"], "game/a/scale-2": ["a"],
            ])
        #expect(
            try packs(["l1/a", "h2/a", "h2/b"], rules({ $0 == 1 ? "l1/*" : "h2/*" })) == [
                "game/a": ["h2/a", "h2/b", "l1/a"]
            ])
        #expect(
            try packs(["l1/a", "h2/a", "h2/b"], rules({ $0 == 1 ? "l1/*" : "h2" + "/*" }, as: "*")) == [
                "game/a": ["b"], "game/a/scale-1": ["a"], "game/a/scale-2": ["a"],
            ])
        #expect(try packs(["1/a1", "2/a2"], rules { "\($0)/a\($0)" }) == ["game/a": ["1/a1", "2/a2"]])
        #expect(try packs(["a11", "a12"], rules { "a1\($0)" }) == ["game/a": ["a11", "a12"]])
        // A single file with another value changes no names of packs.
        let third: JSONValue = ["paths": "*@4x", "traits": ["scale": 4]]
        #expect(
            try packs(scales + ["c@4x"], rules { "*@\($0)x" } + [third]) == [
                "game/a": ["b@2x", "c@4x"], "game/a/scale-1": ["a@1x"], "game/a/scale-2": ["a@2x"],
            ])
        // A folder's own labels, with the folder's name.
        #expect(
            try packs(
                ["t/de/.assetvault.json", "t/de/x", "t/en/x", "t/en/y"],
                [["paths": "t/en", "traits": ["language": "en"]]]) == [
                    "game/a": ["t/en/y"], "game/a/language-de": ["t/de/x"], "game/a/language-en": ["t/en/x"],
                ])
    }

    /// Rules of a folder map paths below it, whatever the folder's own path is.
    @Test func rulesOfAFolder() throws {
        #expect(
            try packs(["t@9x/.assetvault.json", "t@9x/u/x@9x", "t@9x/y"], []) == [
                "game/a": ["t@9x/u/big-x", "t@9x/y"]
            ])
    }

    /// Two rules map different parts of a path, in any order.
    @Test func twoMappings() throws {
        let files = ["t/de/sky@1x", "t/de/sky@2x", "t/en/sky@1x", "t/en/sky@2x"]
        let rules: [JSONValue] = [
            ["paths": "*@1x", "traits": ["scale": 1], "as": "*"],
            ["paths": "*@2x", "traits": ["scale": 2], "as": "*"],
            ["paths": "t/de/**", "traits": ["language": "de"], "as": "t/**"],
            ["paths": "t/en/**", "traits": ["language": "en"], "as": "t/**"],
        ]
        let expected = Dictionary(
            uniqueKeysWithValues: ["de", "en"].flatMap { language in
                (1...2).map { ("game/a/language-\(language).scale-\($0)", ["t/sky"]) }
            })
        #expect(try packs(files, rules) == expected)
        #expect(try packs(files, rules.reversed()) == expected)
    }

    @Test(arguments: [
        (
            ["sky", "sky@2x"], #"[{"paths": "*@2x", "traits": {"scale": 2}, "as": "*"}]"#,
            "two files are both 'sky'"
        ),
        (
            ["sky@1x", "sky@2x"],
            #"[{"paths": "*@*x", "traits": {"scale": 2}, "as": "*@*"}, {"paths": "*@2x", "as": "*"}]"#,
            "two rules map the same part"
        ),
        (
            ["l/sky", "h/sky"], #"[{"paths": ["l/*", "h/*"], "traits": {"scale": 2}, "as": "*"}]"#,
            "both 'sky' on a device, with the same traits"
        ),
        (
            ["l/sky", "h/sky"],
            #"[{"paths": "l/*", "traits": {"scale": 1}, "as": "*"}, {"paths": "h/*", "traits": {"size": 2}, "as": "*"}]"#,
            "both 'sky' on a device, with other traits"
        ),
        (
            ["l/sky", "h/sky"],
            #"[{"paths": "l/*", "traits": {"scale": 1}, "as": "*"}, {"paths": "h/*", "tags": ["h"], "traits": {"scale": 2}, "as": "*"}]"#,
            "both 'sky' on a device, with other tags"
        ),
        (["a/sky"], #"[{"paths": "*/sky", "as": "**/sky"}]"#, "other stars"),
        (["sky"], #"[{"paths": "sky", "as": "a/sky"}]"#, "other stars"),
        (["a/sky"], #"[{"paths": "a/*", "as": "../*"}]"#, "can't be where"),
        (["a/Sky", "sky"], #"[{"paths": "a/*", "as": "*"}]"#, "letter case"),
        (["a/sky"], #"[{"tagByFolder": "*", "as": "*"}]"#, "both"),
    ])
    func contradictions(files: [String], rules: String, expected: String) throws {
        let rules = try JSONValue(parsing: Array(rules.utf8).span, place: "rules")
        guard case .array(let elements) = rules else { return }
        let error = #expect(throws: VaultError.self) { _ = try packs(files, elements) }
        #expect(error?.problem.contains(expected) == true, "\(error?.problem ?? "")")
    }
}
