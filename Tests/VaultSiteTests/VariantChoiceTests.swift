import Sampling
import SealedPack
import Testing
import VaultBase
import VaultSite

/// Which of a pack's variants a device gets, by packs of earlier releases; `FileVariantTests` has those with conditions.
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

    private func choice(among packs: [Pack], for device: DeviceTraits) throws -> VariantChoice {
        try VariantChoice(
            among: packs.map { VariantChoice.Candidate(planned: $0.id, $0.offer) }, for: device)
    }

    private func chosen(_ packs: [Pack], _ device: [String: [String]]) throws -> [String] {
        let choice = try choice(among: packs, for: DeviceTraits(device))
        return packs.filter { choice.takes($0.id) }.map { String($0.id.description.dropFirst(5)) }
    }

    @Test(arguments: [
        ("2", "s2"), ("3", "s4"), ("4", "s4"), ("5", "s4"), ("1", "s1"), ("0", "s1"), ("many", "s4"),
        (nil, "s4"),
    ])
    func theNearestNumber(stated: String?, expected: String) throws {
        let packs = try [1, 2, 4].map { try pack("s\($0)", ["scale": .integer($0)], Self.scale) }
        #expect(try chosen(packs, stated.map { ["scale": [$0]] } ?? [:]) == [expected])
    }

    /// A number in another spelling is chosen as it is written, else nothing would be chosen and all taken.
    @Test(arguments: [("2", "+2"), ("3", "007"), (nil, "007")] as [(String?, String)])
    func numbersInOtherSpellings(stated: String?, expected: String) throws {
        let packs = try ["+2", "007"].map { value in
            try pack(value == "007" ? "s7" : "s2", ["scale": .string(value)], Self.scale)
        }
        let name = expected == "007" ? "s7" : "s2"
        #expect(try chosen(packs, stated.map { ["scale": [$0]] } ?? [:]) == [name])
    }

    @Test func allVariants() throws {
        let packs = try [1, 2, 4].map { try pack("s\($0)", ["scale": .integer($0)], Self.scale) }
        let choice = try choice(among: packs, for: .allVariants)
        #expect(packs.allSatisfy { choice.takes($0.id) } && choice.replaced.isEmpty)
    }

    @Test(arguments: [
        (["de-AT"], "de-at"), (["de-CH"], "de"), (["DE"], "de"), (["pt"], "pt-br"), (["pt-PT"], "pt-br"),
        (["fr-CA", "pt-PT"], "pt-br"), (["pt-PT", "de"], "pt-br"), (["zh-Hans"], "zh-hant"),
        (["de-Latn-DE"], "de"), (["port"], "en"),
        (["fr", "pt-BR"], "pt-br"), (["fr"], "en"), ([], "en"), (["zh-Hant-x-TW"], "zh-hant"),
        (["de-x-a"], "de"),
    ])
    func languagesAsInRFC4647(stated: [String], expected: String) throws {
        let packs = try ["de", "de-AT", "en", "pt-BR", "zh-Hant"].map {
            try pack($0.lowercased(), ["language": .string($0)], Self.language)
        }
        #expect(try chosen(packs, ["language": stated]) == [expected])
    }

    @Test(arguments: [
        (["etc2", "astc"], "etc2"), (["bc7", "astc"], "astc"), (["bc7"], "png"), ([], "png"),
    ])
    func theFirstWordOfTheDevice(stated: [String], expected: String) throws {
        let packs = try ["astc", "etc2", "png"].map {
            try pack($0, ["texture": .string($0)], Self.texture)
        }
        #expect(try chosen(packs, ["texture": stated]) == [expected])
        // Without the fallback's value the first one serves.
        #expect(try chosen(Array(packs.dropLast()), ["texture": ["bc7"]]) == ["astc"])
    }

    /// A class of devices, and something that a device has or not: `true` and `false` are stated as words.
    @Test(arguments: [
        (["class": ["tv"], "hdr": ["true"]], "tv-hdr"), (["class": ["tv"], "hdr": ["false"]], "tv"),
        (["class": ["tablet", "phone"], "hdr": ["true"]], "phone"), (["class": ["watch"]], "phone"),
        (["hdr": ["true"]], "phone"), ([:], "phone"),
    ])
    func classesAndBooleans(device: [String: [String]], expected: String) throws {
        let matching: [String: TraitMatching] = [
            "class": .word(fallback: ["phone"]), "hdr": .word(fallback: ["false"]),
        ]
        let packs = try [
            pack("phone", ["class": "phone", "hdr": false], matching),
            pack("tv", ["class": "tv", "hdr": false], matching),
            pack("tv-hdr", ["class": "tv", "hdr": true], matching),
        ]
        #expect(try chosen(packs, device) == [expected])
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
            try chosen(packs, ["scale": ["2"]]) == [
                "plain", "two", "other-tags", "other-trait", "no-family-1", "no-family-2",
            ])
        let choice = try choice(among: packs, for: DeviceTraits(["scale": ["2"]]))
        #expect(choice.replaced == [try PackID("game/one"): [try PackID("game/two")]])
    }

    /// What a team may list at most, on a device that states most, takes no time worth noticing; what is cancelled ends.
    @Test(.timeLimit(.minutes(1))) func longLanguagesAreChosenQuickly() async throws {
        let long = (0..<32).map { number in "\(number)" + String(repeating: "-z", count: 31) }
        let matching = ["language": TraitMatching.language(fallback: long)]
        let packs = try (0..<2_000).map { number in
            try pack("p\(number)", ["language": .string("q-\(number)")], matching)
        }
        let device = DeviceTraits(["language": long])
        #expect(try chosen(packs, ["language": long]).count == 1)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            _ = try choice(among: packs, for: device)
        }
        let result = await cancelled.result
        #expect(throws: VaultError.self) { try result.get() }
    }

    /// The same of as many values as a condition may have.
    @Test(.timeLimit(.minutes(1))) func longConditionsAreDecidedQuickly() throws {
        let long = (0..<32).map { number in "\(number)" + String(repeating: "-z", count: 31) }
        let values = (0..<127).map { "q\($0)" + String(repeating: "-y", count: 30) }
        let packs = try (0..<100).map { number -> Pack in
            let value = "v-\(number)"
            var pack = try pack("p\(number)", ["language": .string(value)], [:])
            pack.offer.devices = [
                "language": .value(value, among: values + [value], .language(fallback: long))
            ]
            return pack
        }
        #expect(try chosen(packs, ["language": long]).isEmpty)
    }

    /// A family is what one signer made with one content key: by its name alone, and tags that do not count, nobody replaces
    /// the packs of others.
    @Test(arguments: [(2, 1, false), (1, 2, false), (1, 1, true)] as [(Int, UInt8, Bool)])
    func othersReplaceNothing(rank: Int, key: UInt8, isReplaced: Bool) throws {
        func candidate(_ scale: Int64, _ rank: Int, _ key: UInt8) throws -> VariantChoice.Candidate {
            let pack = try pack("s\(scale)", ["scale": .integer(scale)], Self.scale)
            let key = try ContentKeyID([UInt8](repeating: key, count: 16), place: "test")
            return VariantChoice.Candidate(pack.id, pack.offer, rank: rank, contentKeyID: key)
        }
        var other = try candidate(2, rank, key)
        if !isReplaced {
            var offer = other.offer
            (offer.tags, offer.withheldTags) = ([], ["level"])
            other = VariantChoice.Candidate(other.id, offer, rank: rank, contentKeyID: other.contentKeyID)
        }
        let own = try candidate(1, 1, 1)
        let choice = try VariantChoice(among: [own, other], for: DeviceTraits(["scale": ["2"]]))
        #expect(choice.takes(own.id) == !isReplaced && choice.takes(other.id))
    }

    /// Packs with conditions are taken one by one: nothing of another signer, and no other pack, takes their place.
    @Test func conditionsDecideAlone() throws {
        let (family, id) = (try PackID("game"), try PackID("game/level/scale-1"))
        var offer = PackOffer(tags: ["level"], traits: ["scale": 1], family: family)
        offer.devices = ["scale": .number(above: nil, upTo: 1)]
        let own = VariantChoice.Candidate(id, offer, rank: 1, contentKeyID: nil)
        offer.devices = ["scale": .number(above: 1, upTo: nil)]
        let rest = VariantChoice.Candidate(
            try PackID("game/level/scale-2"), offer, rank: 1, contentKeyID: nil)
        offer.devices = [:]
        offer.matching = Self.scale
        let old = VariantChoice.Candidate(try PackID("game/level/old"), offer, rank: 2, contentKeyID: nil)
        for (scale, taken) in [("0", own.id), ("1", own.id), ("2", rest.id), ("x", rest.id)] {
            let choice = try VariantChoice(among: [old, rest, own], for: DeviceTraits(["scale": [scale]]))
            #expect(choice.takes(old.id) && choice.takes(taken))
            let other = taken == own.id ? rest.id : own.id
            #expect(!choice.takes(other) && choice.replaced == [other: [taken]])
        }
    }

    @Test(arguments: [["scale"], ["scale=2", "scale=3"], ["=2"], ["scale="]])
    func otherTextsStateNoTrait(texts: [String]) {
        #expect(throws: (any Error).self) { try DeviceTraits(parsing: texts) }
    }

    /// Random devices and listings against a model, which gives each value a rank of its own and takes the least of all.
    @Test func agreesWithAModel() throws {
        var random = SeededGenerator(for: "VariantChoiceTests.agreesWithAModel")
        for _ in 0..<4_000 {
            let device = SampledTraits.device(&random)
            var packs: [Pack] = []
            var expected: Set<PackID> = []
            for family in ["game", "game2"] {
                let fallbacks = SampledTraits.fallbacks(&random)
                for tags in [["level"], ["level", "menu"]] {
                    let prefix = "\(family)/\(tags.count)"
                    let listed = try variants(in: prefix, tags, family, fallbacks, &random)
                    packs += listed.map(\.pack)
                    let best = listed.min {
                        SampledTraits.rank($0.traits, for: device, fallbacks).lexicographicallyPrecedes(
                            SampledTraits.rank($1.traits, for: device, fallbacks))
                    }
                    if let best { expected.insert(best.pack.id) }
                    for number in 0..<Int.random(in: 0...2, using: &random) {
                        let id = try PackID("\(prefix)/plain\(number)")
                        packs.append((id, PackOffer(tags: tags, family: try PackID(family))))
                        expected.insert(id)
                    }
                }
            }
            let choice = try choice(among: packs.shuffled(using: &random), for: DeviceTraits(device))
            let chosen = Set(packs.map(\.id).filter(choice.takes))
            #expect(chosen == expected, "\(packs) for \(device)")
            #expect(Set(choice.replaced.keys) == Set(packs.map(\.id)).subtracting(expected))
            #expect(expected.isSuperset(of: choice.replaced.values.joined()))
        }
    }

    /// Packs that are variants of each other, by at least one trait.
    private func variants(
        in prefix: String, _ tags: [String], _ family: String, _ fallbacks: [String: [String]],
        _ random: inout SeededGenerator
    ) throws -> [(pack: Pack, traits: [String: String])] {
        let names = SampledTraits.values.keys.sorted().shuffled(using: &random)
            .prefix(.random(in: 1...3, using: &random))
        var listed: [[String: String]] = []
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            var traits: [String: String] = [:]
            for name in names { traits[name] = SampledTraits.values[name]?.randomElement(using: &random) }
            if !listed.contains(traits) { listed.append(traits) }
        }
        let matching: [String: TraitMatching] = [
            "scale": .nearest, "language": .language(fallback: fallbacks["language"] ?? []),
            "texture": .word(fallback: fallbacks["texture"] ?? []),
        ]
        return try listed.enumerated().map { number, traits in
            let json = traits.mapValues { text in Int64(text).map { JSONValue.integer($0) } ?? .string(text) }
            let offer = PackOffer(
                tags: tags, traits: JSONObject(lastWins: json.map { ($0, $1) }), family: try PackID(family),
                matching: matching.filter { traits[$0.key] != nil })
            return ((try PackID("\(prefix)/\(number)"), offer), traits)
        }
    }
}
