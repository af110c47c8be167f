import SealedPack
public import VaultBase

/// What a device states of itself: for each trait its values, the preferred one first.
public struct DeviceTraits: Sendable, Hashable {
    private(set) var values: [String: [String]]
    /// Whether no trait decides: all packs that are variants of each other are taken.
    public let takesAllVariants: Bool

    public init(_ values: [String: [String]] = [:]) {
        (self.values, takesAllVariants) = (values, false)
    }

    private init(takingAllVariants: Void) { (values, takesAllVariants) = ([:], true) }

    /// Takes all variants, also where a store remembers traits.
    public static let allVariants = Self(takingAllVariants: ())
    static let allVariantsText = "all"

    /// Texts such as `scale=2` and `language=de-AT,en`, or `all` alone for ``allVariants``. Throws `.usage`.
    public init(parsing texts: [String]) throws(VaultError) {
        if texts == [Self.allVariantsText] {
            self = .allVariants
            return
        }
        guard !texts.contains(Self.allVariantsText) else {
            throw Self.refusal(
                "'\(Self.allVariantsText)' takes all variants, and other values choose one of them",
                "give either '\(Self.allVariantsText)' or traits")
        }
        self.init()
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.last?.split(separator: ",").map(String.init) ?? []
            guard parts.count == 2, let name = parts.first.map(String.init), !name.isEmpty, !words.isEmpty
            else {
                throw Self.refusal(
                    "'\(text.excerpt)' is not a trait with a value",
                    "write NAME=VALUE, several values as NAME=VALUE,VALUE, or '\(Self.allVariantsText)' for all variants"
                )
            }
            guard words.count <= PackOffer.traitLimit, ([name] + words).allSatisfy(PackOffer.isTraitText)
            else {
                throw Self.refusal(
                    "'\(text.excerpt)' has too many values, or a name or value that is empty, too long, or not in normalisation form C without control characters",
                    "state at most \(PackOffer.traitLimit) values; names and values have 1 to 64 bytes")
            }
            guard values.updateValue(words, forKey: name) == nil else {
                throw Self.refusal(
                    "the trait '\(name.excerpt)' is stated twice",
                    "state it once, with several values as NAME=VALUE,VALUE, the preferred one first")
            }
        }
    }

    private static func refusal(_ problem: String, _ remedy: String) -> VaultError {
        VaultError(.usage, problem, at: "device", remedy: remedy)
    }

    /// Sorted by their bytes.
    public var names: [String] { values.keys.sorted { $0.bytesPrecede($1) } }

    /// Empty where the device states nothing of it.
    public subscript(name: String) -> [String] { values[name] ?? [] }
}

/// As in `["scale": 2, "language": ["de-AT", "en"]]`.
extension DeviceTraits: ExpressibleByDictionaryLiteral {
    /// The values of one trait, the preferred one first.
    public struct Values: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
        fileprivate let texts: [String]

        public init(stringLiteral text: String) { texts = [text] }
        public init(integerLiteral number: Int) { texts = ["\(number)"] }
        public init(arrayLiteral texts: String...) { self.texts = texts }
    }

    /// If a trait is repeated, its last values count.
    public init(dictionaryLiteral traits: (String, Values)...) {
        self.init(Dictionary(traits.map { ($0, $1.texts) }, uniquingKeysWith: { $1 }))
    }
}

extension DeviceTraits: CustomStringConvertible {
    /// As it is parsed, sorted by name.
    public var description: String {
        takesAllVariants
            ? Self.allVariantsText
            : names.map { "\($0)=\(self[$0].joined(separator: ","))" }.joined(separator: " ")
    }
}

/// How a store remembers them: an object with the values of each trait, or `"all"`. Other than in a command line a value may
/// contain any character.
extension DeviceTraits {
    package var json: JSONValue {
        guard !takesAllVariants else { return .string(Self.allVariantsText) }
        return .object(
            JSONObject(lastWins: values.map { ($0.key, .array($0.value.map(JSONValue.string))) }))
    }

    /// Throws `.corrupt`.
    package init(parsing json: JSONValue, place: String) throws(VaultError) {
        if json == .string(Self.allVariantsText) {
            self = .allVariants
            return
        }
        var values: [String: [String]] = [:]
        let traits = try json.asObject(at: place)
        for name in traits.keys {
            var words: [String] = []
            for word in try traits.array(name, at: place) { words.append(try word.asString(at: place)) }
            values[name] = words
        }
        self.init(values)
    }
}
