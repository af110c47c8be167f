import SealedPack
import VaultBase
import VaultSite

/// The traits of a resource tree, and how devices choose among their values: the member `"traits"`, such as
/// `{"scale": {"match": "nearest"}, "language": {"match": "language", "fallback": ["en"]}}`.
struct TraitDeclarations: Sendable {
    private let matching: [String: TraitMatching]

    /// - Parameter json: nil for a tree without variants.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        var matching: [String: TraitMatching] = [:]
        if let json { try PackOffer.requireTraitCount(json.members().count, "traits", at: json) }
        for trait in try json?.members() ?? [] {
            try PackOffer.requireTraitText(trait.name, "a trait's name", in: "traits", at: trait.key)
            matching[trait.name] = try Self.matching(trait.name, parsing: trait.value)
        }
        self.matching = matching
    }

    private static func matching(_ trait: String, parsing json: LocatedJSON) throws(VaultError)
        -> TraitMatching
    {
        try json.requireMembers(among: ["match", "fallback"])
        let match = try json.required("match")
        let name = try match.string()
        guard TraitMatching.names.contains(name) else {
            throw match.error(
                .usage, "no trait is matched by '\(name.excerpt)'",
                remedy: "use one of \(TraitMatching.names.joined(separator: ", "))"
            ).suggesting(name, among: TraitMatching.names)
        }
        let fallback = try json["fallback"]?.elements() ?? []
        try PackOffer.requireTraitCount(fallback.count, "fallbacks", at: json)
        for value in fallback {
            let text = try value.string()
            try requireValue(text, of: trait, at: value)
            try PackOffer.requireTraitText(text, "a trait's value", in: "fallback", at: value)
            if name == "language" { try requireLanguage(text, of: trait, at: value) }
        }
        return try json.map { () throws(VaultError) in try TraitMatching(parsing: json.object(), place: "") }
    }

    /// How devices choose among the values of a trait.
    func matching(of trait: String) -> TraitMatching { matching[trait] ?? .word(fallback: []) }

    /// Whether a device chooses by a trait before it does by another one.
    func precedes(_ trait: String, _ other: String) -> Bool {
        let (rank, otherRank) = (matching(of: trait).rank, matching(of: other).rank)
        return rank == otherRank ? trait.bytesPrecede(other) : rank < otherRank
    }

    /// The values of traits, each with a mark for the trait that no path holds.
    func marks(of traits: JSONObject) -> [(text: String, mark: [UInt8])] {
        let names = matching.keys.sorted { $0.bytesPrecede($1) }
        return names.enumerated().compactMap { number, name in
            traits[name]?.traitText.map { ($0, [1, UInt8(truncatingIfNeeded: number), 1]) }
        }
    }

    /// The fallbacks that no value of the files serves, with the nearest value.
    ///
    /// - Parameter known: the values of each trait.
    func unusedFallbacks(among known: [String: Set<String>]) -> [Finding] {
        matching.sorted { $0.key < $1.key }.flatMap { name, matching in
            let values = (known[name] ?? []).sorted()
            return matching.fallback.filter { matching.match(for: $0, among: values) == nil }.map { value in
                Finding.warning(
                    "unused-fallback", "no file has the fallback '\(value)' of the trait '\(name)'",
                    at: "traits",
                    remedy: Suggestion.nearest(to: value, among: values).map {
                        "did you mean '\($0)'? Else give files for it, or remove it"
                    } ?? "give files for it, or remove it")
            }
        }
    }

    /// The member `"traits"` of a rule. Throws `.usage` for a trait that the tree does not declare, or a value that it can't
    /// have.
    func traits(givenBy json: LocatedJSON) throws(VaultError) -> JSONObject {
        for trait in try json["traits"]?.members() ?? [] {
            if case .string(let text) = trait.value.value {
                try Self.requireValue(text, of: trait.name, at: trait.value)
            }
        }
        let traits = try PackOffer.traits(declaredIn: json)
        for trait in try json["traits"]?.members() ?? [] {
            switch (matching[trait.name], trait.value.value) {
            case (.nearest, .integer(0...)), (.word, _): continue
            case (.language, .string(let text)):
                try Self.requireLanguage(text, of: trait.name, at: trait.value)
            case (nil, _):
                throw trait.key.error(
                    .usage, "the trait '\(trait.name)' is not declared",
                    remedy: "add it to \"traits\" of the resources, with how it is matched"
                ).suggesting(trait.name, among: matching.keys)
            case (.nearest, _):
                throw trait.value.error(
                    .usage, "the trait '\(trait.name)' is matched by the nearest number",
                    remedy: "use an integer, 0 or more")
            case (.language, _):
                throw Self.noLanguage(trait.name, at: trait.value)
            }
        }
        return traits
    }

    private static func requireValue(_ text: String, of trait: String, at json: LocatedJSON)
        throws(VaultError)
    {
        guard text.isEmpty else { return }
        throw json.error(
            .usage, "the trait '\(trait)' has an empty value, which no device can state",
            remedy: "name a value, or omit the trait")
    }

    private static func requireLanguage(_ text: String, of trait: String, at json: LocatedJSON)
        throws(VaultError)
    {
        guard text.isLanguageTag else { throw noLanguage(trait, at: json) }
    }

    private static func noLanguage(_ trait: String, at json: LocatedJSON) -> VaultError {
        json.error(
            .usage, "the trait '\(trait)' is matched as a language",
            remedy: "use a language tag (BCP 47), such as \"de-AT\"")
    }
}

extension String {
    /// Whether it has the form of a language tag: subtags of one to eight letters and digits, the first of letters.
    fileprivate var isLanguageTag: Bool {
        let subtags = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return subtags.enumerated().allSatisfy { index, subtag in
            (1...8).contains(subtag.count)
                && subtag.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                    case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
                    default: false
                    }
                }
        }
    }
}
