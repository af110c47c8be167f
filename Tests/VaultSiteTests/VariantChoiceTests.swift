import Sampling
import SealedPack
import StrictJSON
import Testing
import VaultSite

/// Which of a pack's variants a device gets (AT-1).
@Suite struct VariantChoiceTests {
    typealias Pack = (id: PackID, offer: PackOffer)

    private static let scale = ["scale": TraitMatching.nearest]
    private static let language = ["language": TraitMatching.language(fallback: ["en"])]
    private static let texture = ["texture": TraitMatching.word(fallback: ["png"])]

    private func pack(
        _ name: String, _ traits: JSONObject, _ matching: [String: TraitMatching], tags: [String] = ["level"],
        family: String? = "game"
    ) throws -> Pack {
        let family = try family.map { try PackID($0) }
        return (
            try PackID("game/\(name)"),
            PackOffer(tags: tags, traits: traits, family: family, matching: matching)
        )
    }

    private func chosen(_ packs: [Pack], _ device: [String: [String]]) -> [String] {
        let choice = VariantChoice(among: packs, for: DeviceTraits(device))
        return packs.filter { choice.takes($0.id) }.map { String($0.id.description.dropFirst(5)) }
    }

    @Test(arguments: [
        ("2", "s2"), ("3", "s4"), ("4", "s4"), ("5", "s4"), ("1", "s1"), ("0", "s1"), ("many", "s4"),
        (nil, "s4"),
    ])
    func theNearestNumber(stated: String?, expected: String) throws {
        let packs = try [1, 2, 4].map { try pack("s\($0)", ["scale": .integer($0)], Self.scale) }
        #expect(chosen(packs, stated.map { ["scale": [$0]] } ?? [:]) == [expected])
    }

    @Test(arguments: [
        (["de-AT"], "de-at"), (["de-CH"], "de"), (["DE"], "de"), (["pt"], "pt-br"), (["pt-PT"], "en"),
        (["fr", "pt-BR"], "pt-br"), (["fr"], "en"), ([], "en"), (["zh-Hant-x-TW"], "zh-hant"),
        (["de-x-a"], "de"),
    ])
    func languagesAsInRFC4647(stated: [String], expected: String) throws {
        let packs = try ["de", "de-AT", "en", "pt-BR", "zh-Hant"].map {
            try pack($0.lowercased(), ["language": .string($0)], Self.language)
        }
        #expect(chosen(packs, ["language": stated]) == [expected])
    }

    @Test(arguments: [
        (["etc2", "astc"], "etc2"), (["bc7", "astc"], "astc"), (["bc7"], "png"), ([], "png"),
    ])
    func theFirstWordOfTheDevice(stated: [String], expected: String) throws {
        let packs = try ["astc", "etc2", "png"].map {
            try pack($0, ["texture": .string($0)], Self.texture)
        }
        #expect(chosen(packs, ["texture": stated]) == [expected])
        // Without the fallback's value the first one serves.
        #expect(chosen(Array(packs.dropLast()), ["texture": ["bc7"]]) == ["astc"])
    }

    @Test func onlyVariantsOfTheSameFilesReplaceEachOther() throws {
        let packs = try [
            pack("plain", [:], [:]), pack("one", ["scale": 1], Self.scale),
            pack("two", ["scale": 2], Self.scale),
            pack("other-tags", ["scale": 1], Self.scale, tags: ["level", "menu"]),
            pack("other-trait", ["language": "de"], Self.language),
            pack("no-family-1", ["scale": 1], [:], family: nil),
            pack("no-family-2", ["scale": 2], [:], family: nil),
        ]
        #expect(
            chosen(packs, ["scale": ["2"]]) == [
                "plain", "two", "other-tags", "other-trait", "no-family-1", "no-family-2",
            ])
        let choice = VariantChoice(among: packs, for: DeviceTraits(["scale": ["2"]]))
        #expect(choice.replaced == [try PackID("game/one"): try PackID("game/two")])
    }

    @Test(arguments: [["scale"], ["scale=2", "scale=3"], ["=2"], ["scale="]])
    func otherTextsStateNoTrait(texts: [String]) {
        #expect(throws: (any Error).self) { try DeviceTraits(parsing: texts) }
    }

    /// Random devices and listings against a model, which gives each value a rank of its own and takes the least of all.
    @Test func agreesWithAModel() throws {
        var random = SeededGenerator(for: "VariantChoiceTests.agreesWithAModel")
        let matching = Self.scale.merging(Self.language) { $1 }.merging(Self.texture) { $1 }
        let values: [String: [String]] = [
            "scale": ["1", "2", "3", "4"], "texture": ["astc", "bc7", "etc2", "png"],
            "language": ["de", "de-AT", "en", "en-US", "fr", "pt-BR", "zh-Hant-TW"],
        ]
        for _ in 0..<10_000 {
            let names = values.keys.sorted().filter { _ in Bool.random(using: &random) }
            guard !names.isEmpty else { continue }
            var listed: [[String: String]] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                var traits: [String: String] = [:]
                for name in names { traits[name] = values[name]?.randomElement(using: &random) }
                if !listed.contains(traits) { listed.append(traits) }
            }
            var device: [String: [String]] = [:]
            for name in values.keys.sorted() where Bool.random(using: &random) {
                let wanted = values[name, default: []] + ["5", "it", "de-CH", "en-GB", "pt"]
                device[name] = Array(
                    wanted.shuffled(using: &random).prefix(.random(in: 1...3, using: &random)))
            }
            let packs = try listed.enumerated().map { number, traits in
                let json = traits.mapValues { text in
                    Int64(text).map { JSONValue.integer($0) } ?? .string(text)
                }
                return try pack("\(number)", JSONObject(lastWins: json.map { ($0, $1) }), matching)
            }
            let best = listed.enumerated().min {
                let (left, right) = ($0.element, $1.element)
                return rank(left, for: device, values).lexicographicallyPrecedes(
                    rank(right, for: device, values))
            }
            #expect(chosen(packs, device) == [String(best?.offset ?? -1)], "\(listed) for \(device)")
        }
    }

    private func rank(
        _ traits: [String: String], for device: [String: [String]], _ values: [String: [String]]
    ) -> [Int] {
        ["language", "texture", "scale"].flatMap { name -> [Int] in
            guard let value = traits[name] else { return [] }
            let tie = values[name]?.firstIndex(of: value) ?? -1
            return rank(value, of: name, for: device[name] ?? []) + [tie]
        }
    }

    private func rank(_ value: String, of name: String, for wanted: [String]) -> [Int] {
        switch name {
        case "scale":
            let number = Int(value) ?? 0
            guard let wanted = wanted.lazy.compactMap({ Int($0) }).first else { return [0, -number] }
            return number >= wanted ? [0, number] : [1, -number]
        case "texture": return [(wanted + ["png"]).firstIndex(of: value) ?? 1000, 0]
        default:
            let subtags = value.split(separator: "-")
            for (index, range) in (wanted + ["en"]).enumerated() {
                let range = range.split(separator: "-")
                if range.starts(with: subtags) { return [index, range.count - subtags.count] }
                if subtags.starts(with: range) { return [index, 50] }
            }
            return [1000, 0]
        }
    }
}
