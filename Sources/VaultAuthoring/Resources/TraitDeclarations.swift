import SealedPack
import StrictJSON
import VaultErrors

/// The traits of a resource tree, and how devices choose among their values: the member `"traits"`, such as
/// `{"scale": {"match": "nearest"}, "language": {"match": "language", "fallback": ["en"]}}`.
struct TraitDeclarations: Sendable {
    private let matching: [String: TraitMatching]

    /// - Parameter json: nil for a tree without variants.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        var matching: [String: TraitMatching] = [:]
        for trait in try json?.members() ?? [] {
            if let match = try trait.value["match"], case .string(let name) = match.value,
                !TraitMatching.names.contains(name)
            {
                throw match.error(
                    .usage, "no trait is matched by '\(name.excerpt)'",
                    remedy: "use one of \(TraitMatching.names.joined(separator: ", "))"
                ).suggesting(name, among: TraitMatching.names)
            }
            matching[trait.name] = try trait.value.map { () throws(VaultError) in
                try TraitMatching(parsing: trait.value.object(), place: "")
            }
        }
        self.matching = matching
    }

    /// How devices choose among packs with these traits.
    func matching(of traits: JSONObject) -> [String: TraitMatching] {
        matching.filter { traits[$0.key] != nil }
    }

    /// The member `"traits"` of a rule. Throws `.usage` for a trait that the tree does not declare, or a value that it can't
    /// have.
    func traits(givenBy json: LocatedJSON) throws(VaultError) -> JSONObject {
        let traits = try PackOffer.traits(declaredIn: json)
        for trait in try json["traits"]?.members() ?? [] {
            switch (matching[trait.name], trait.value.value) {
            case (.nearest, .integer(0...)), (.language, .string), (.word, _): continue
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
                throw trait.value.error(
                    .usage, "the trait '\(trait.name)' is matched as a language",
                    remedy: "use a language tag (BCP 47), such as \"de-AT\"")
            }
        }
        return traits
    }
}
