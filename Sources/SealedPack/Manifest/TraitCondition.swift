public import VaultBase

/// The devices that a variant serves, by one trait. Every device meets the condition of exactly one variant of a file, so a client
/// can decide for each pack separately.
public enum TraitCondition: Sendable, Hashable {
    /// Of numbers: devices that state more than the first one and at most the second. Without the second also those that state no number.
    case number(above: Int64?, upTo: Int64?)
    /// Devices that the value serves best among some, by words or languages.
    case value(String, among: [String], TraitMatching)

    /// The maximum number of values that a device chooses among.
    public static let valueLimit = 128

    private static let numbers = "numberRange"
    private static let words = "wordAmong"
    private static let languages = "languageAmong"

    /// A member of `matching` in a manifest. A value of words or languages is that of the pack's traits.
    var json: JSONObject {
        switch self {
        case .number(let above, let upTo):
            var json: JSONObject = ["match": .string(Self.numbers)]
            json["above"] = above.map(JSONValue.integer)
            json["upTo"] = upTo.map(JSONValue.integer)
            return json
        case .value(_, let values, let matching):
            var json = matching.json
            if case .language = matching {
                json["match"] = .string(Self.languages)
            } else {
                json["match"] = .string(Self.words)
            }
            json["among"] = .array(values.map(JSONValue.string))
            return json
        }
    }

    /// Nil for a ``TraitMatching``. Throws `.corrupt`.
    ///
    /// - Parameter value: of the pack's trait.
    init?(parsing json: JSONObject, of value: JSONValue?, place: String) throws(VaultError) {
        var matching = json
        switch try json.string("match", at: place) {
        case Self.numbers:
            self = .number(
                above: try json.optionalInteger("above", at: place),
                upTo: try json.optionalInteger("upTo", at: place))
            return
        case Self.words: matching["match"] = "word"
        case Self.languages: matching["match"] = "language"
        default: return nil
        }
        let texts = try PackOffer.traitTexts(
            json.array("among", at: place), upTo: Self.valueLimit, "value", place)
        guard let text = value?.traitText, texts.contains(where: { $0.hasSameBytes(as: text) }) else {
            throw PackOffer.traitRefusal("its value is not among those of a trait", place)
        }
        self = .value(text, among: texts, try TraitMatching(parsing: matching, place: place))
    }
}

extension JSONValue {
    /// A trait's value as devices state it; nil for what can't be one.
    package var traitText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .array, .object, .null: nil
        }
    }
}

/// How a client compares the variants of a resource tree with what its device states of one trait.
public enum TraitMatching: Sendable, Hashable {
    /// Integers: the smallest one that is at least the device's, else the greatest.
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
        let fallback = try PackOffer.traitTexts(
            json.optionalArray("fallback", at: place) ?? [], upTo: PackOffer.traitLimit, "fallback", place)
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
