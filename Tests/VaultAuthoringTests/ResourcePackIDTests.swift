import Sampling
import SealedPack
import Testing
import VaultBase
import VaultCrypto

@testable import VaultAuthoring

/// The IDs of the packs of a resource tree. Published packs have them, so they must never change.
@Suite struct ResourcePackIDTests {
    private func labels(_ tags: [String], _ traits: JSONObject = [:]) throws -> ResourceLabels {
        let tags = JSONValue.array(tags.map(JSONValue.string))
        let json: JSONObject = ["tags": tags, "traits": .object(traits), "paths": "*"]
        let source = try JSONSource(parsing: JSONValue.object(json).pretty(), name: "test")
        let names = traits.keys.map { "\"\($0)\": {\"match\": \"word\"}" }
        let declared = try JSONSource(
            parsing: Array("{\(names.joined(separator: ","))}".utf8), name: "traits")
        let rule = try ResourceRule(
            parsing: source.located, declaring: TraitDeclarations(parsing: declared.located))
        var labels = ResourceLabels()
        let path = try EntryPath("file")
        try labels.add(AppliedRule(rule, to: path.utf8Bytes), for: path)
        return labels
    }

    private func id(_ tags: [String], _ traits: JSONObject = [:]) throws -> String {
        try PackID(family: PackID("game"), labels(tags, traits)).description
    }

    @Test(
        arguments: [
            (["level1"], [:], "game/level1"), (["b", "a"], [:], "game/a.b"),
            (["Level1"], [:], "game/level1-38e9e4a3"), (["a.b"], [:], "game/a-b-68a4364b"),
            (["Übung"], [:], "game/bung-773c300d"), (["größe"], [:], "game/gr--e-e2e86c12"),
            (["日本"], [:], "game/3cf37311"),
            (["current"], [:], "game/current-7c5b4cd9"), (["_a"], [:], "game/a-df3aacd3"),
            (["a b"], [:], "game/a-b-541e27fe"),
            (["1"], [:], "game/1"), (["a-b"], [:], "game/a-b"),
            (["a"], ["scale": 2], "game/a/scale-2"), (["a"], ["scale": "2"], "game/a/scale-2-67352ee7"),
            (["a"], ["scale": -1], "game/a/scale--1-5a2a5e89"), (["a"], ["hdr": true], "game/a/hdr-true"),
            (["a"], ["hdr": "true"], "game/a/hdr-true-908745e3"),
            (["a"], ["language": "de-AT"], "game/a/language-de-at-0560fb5a"),
            (["a"], ["language": "de-at"], "game/a/language-de-at"),
            (["a"], ["my-trait": "x"], "game/a/my-trait-x-4338cba7"),
            (["a"], ["b": 1, "a": 2], "game/a/a-2.b-1"),
        ] as [([String], JSONObject, String)])
    func idsStay(tags: [String], traits: JSONObject, expected: String) throws {
        #expect(try id(tags, traits) == expected)
    }

    @Test func manyTags() throws {
        #expect(try id((1...60).map { "t\($0)" }) == "game/t1.t10.t11.t12.t13.t14.t15.t16.t17.t18.t-8d6be6a2")
    }

    /// Random sets have IDs of their own, whose segments fit, and which no order of tags changes.
    @Test func randomSets() throws {
        var random = SeededGenerator(for: "ResourcePackIDTests.randomSets")
        let words = [
            "a", "A", "b", "ä", "Ä", "a.b", "a-b", "a_b", "current", "1", "01", "_", "-", ".", " ", "日本",
            "x-1",
        ]
        var known: [PackID: ResourceLabels] = [:]
        for _ in 0..<4_000 {
            var tags: [String] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let tag = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    words.randomElement(using: &random) ?? "a"
                }.joined()
                if !tags.contains(tag) { tags.append(tag) }
            }
            var traits = JSONObject()
            for name in words.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
                traits[name] = [1, -1, "1", "-1", true, "true", "x", "X"].randomElement(using: &random)
            }
            let labels = try labels(tags, traits)
            let id = try PackID(family: PackID("game"), labels)
            #expect(id.description.split(separator: "/").allSatisfy { $0.utf8.count <= 64 })
            #expect(
                try PackID(family: PackID("game"), self.labels(tags.shuffled(using: &random), traits)) == id)
            if let other = known.updateValue(labels, forKey: id) {
                #expect(other == labels, "\(id)")
            }
        }
        #expect(known.count > 2_000)
    }

    /// Crafted sets of one ID are refused: a pack would hold the files of both.
    @Test func twoSetsOfOneID() throws {
        let digest = SHA256.hash(Array(#"["X"]"#.utf8).span).hex.prefix(8)
        var packs = ResourcePacks(family: try PackID("game"), rules: 0..<0)
        try packs.add(0, labels(["X"]))
        try packs.add(1, labels(["X"]))
        let error = #expect(throws: VaultError.self) { try packs.add(2, labels(["x-\(digest)"])) }
        #expect(error?.category == .usage)
        #expect(error?.problem.contains(#"the tags ["X"]"#) == true, "\(error?.problem ?? "")")
    }
}
