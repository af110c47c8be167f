import SealedPack
import VaultBase
import VaultCrypto

extension PackID {
    /// The ID of the pack for one set of tags and one set of devices, such as `game/level1.level2/scale-2`.
    ///
    /// It depends on these, and on the trait values of variants with the same tags. Other tags do not change it.
    init(family: PackID, _ labels: ResourceLabels) throws(VaultError) {
        let tags = JSONValue.array(labels.tags.map(JSONValue.string))
        var segments = [family.description, IDSegment(labels.tags.map(IDWord.init), of: tags).text]
        if !labels.traits.isEmpty {
            let words = labels.traits.map { IDWord(trait: $0.key, $0.value) }
            let set =
                labels.isExact
                ? labels.traits : PackOffer(traits: labels.traits, devices: labels.devices).json
            segments.append(IDSegment(words, of: .object(set), isExact: labels.isExact).text)
        }
        try self.init(segments.joined(separator: "/"))
    }
}

/// A segment of a pack's ID that names a set of words. Where its words could stand for another set, or are too long, it ends
/// with the beginning of the set's digest.
private struct IDSegment {
    let text: String

    /// - Parameters:
    ///   - set: what the words stand for.
    ///   - isExact: whether the words can stand for it alone.
    init(_ words: [IDWord], of set: JSONValue, isExact: Bool = true) {
        let joined = words.map(\.text).joined(separator: ".")
        // No segment of an ID is `current`.
        guard !isExact || !words.allSatisfy(\.isExact) || joined.utf8.count > 48 || joined == "current" else {
            text = joined
            return
        }
        let digest = SHA256.hash(set.canonical().span).hex.prefix(8)
        // A segment begins with a letter or digit.
        let beginning = joined.drop { !IDWord.isAlphanumeric($0) }.prefix(40)
        text = beginning.isEmpty ? String(digest) : "\(beginning)-\(digest)"
    }
}

/// A tag, or a trait with its value, in the characters of a pack's ID.
private struct IDWord {
    let text: String
    /// Whether no other tag or trait has the same text.
    let isExact: Bool

    init(_ tag: String) {
        text = Self.replacing(tag)
        isExact = text.utf8.elementsEqual(tag.utf8) && text.first.map(Self.isAlphanumeric) == true
    }

    init(trait name: String, _ value: JSONValue) {
        let name = IDWord(name)
        let value =
            switch value {
            case .string(let text): (text: text, isExact: Int64(text) == nil && Bool(text) == nil)
            case .integer(let number): (text: "\(number)", isExact: number >= 0)
            case .bool(let flag): (text: "\(flag)", isExact: true)
            case .array, .object, .null: (text: "", isExact: false)
            }
        let word = IDWord(value.text)
        text = "\(name.text)-\(word.text)"
        isExact = name.isExact && word.isExact && value.isExact && !name.text.contains("-")
    }

    static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    /// Letters become lower case, and what an ID can't have becomes `-`.
    private static func replacing(_ text: String) -> String {
        String(text.lowercased().map { isAlphanumeric($0) || $0 == "_" ? $0 : "-" })
    }
}
