public import StrictJSON
public import VaultErrors

/// How a client compares the variants of a resource tree with what its device states of one trait.
public enum TraitMatching: Sendable, Hashable {
    /// Integers: the least one that is no less than the device's, else the greatest.
    case nearest
    /// Language tags (BCP 47), by the lookup of RFC 4647, section 3.4.
    case language(fallback: [String])
    /// Words: the first of the device's words that a variant has.
    case word(fallback: [String])

    /// The values that are tried after the device's own, in this order.
    public var fallback: [String] {
        switch self {
        case .nearest: []
        case .language(let fallback), .word(let fallback): fallback
        }
    }

    public static let names = ["nearest", "language", "word"]

    public var json: JSONObject {
        var json = JSONObject()
        switch self {
        case .nearest: json["match"] = "nearest"
        case .language: json["match"] = "language"
        case .word: json["match"] = "word"
        }
        if !fallback.isEmpty { json["fallback"] = .array(fallback.map(JSONValue.string)) }
        return json
    }

    /// Throws `.corrupt`, for a kind that this release does not know as well.
    public init(parsing json: JSONObject, place: String) throws(VaultError) {
        let name = try json.string("match", at: place)
        var fallback: [String] = []
        let values = try json.optionalArray("fallback", at: place) ?? []
        guard values.count <= PackOffer.traitLimit else {
            throw PackOffer.traitRefusal(
                "a trait has \(values.count) fallbacks, more than \(PackOffer.traitLimit)", place)
        }
        for value in values {
            let text = try value.asString(at: place)
            guard PackOffer.isTraitText(text) else {
                throw PackOffer.traitRefusal("the fallback '\(text.excerpt)' can't be a trait's value", place)
            }
            fallback.append(text)
        }
        switch name {
        case "nearest" where fallback.isEmpty: self = .nearest
        case "language": self = .language(fallback: fallback)
        case "word": self = .word(fallback: fallback)
        case "nearest":
            throw VaultError(
                .corrupt, "the nearest number needs no fallback", at: place, remedy: "remove \"fallback\"")
        default:
            throw .unsupportedFormat(
                "traits are matched by \(Self.names.joined(separator: ", ")), and not by '\(name.excerpt)'",
                at: place)
        }
    }
}
