import StrictJSON
import VaultErrors

/// What apps choose packs by is signed as it is declared, so it is checked before.
extension VaultSettings.Pack {
    /// Words that differ.
    static func tags(of json: JSONObject, at place: String) throws(VaultError) -> [String] {
        let tags = try strings("tags", of: json, at: place)
        var known: Set<[UInt8]> = []
        for tag in tags {
            try requireWord(tag, "a tag", in: "tags", at: place)
            guard known.insert(Array(tag.utf8)).inserted else {
                throw VaultError(
                    .usage, "the member \"tags\" has '\(tag)' twice", at: place, remedy: "name each tag once")
            }
        }
        return tags
    }

    /// One level of names and plain values.
    static func traits(of json: JSONObject, at place: String) throws(VaultError) -> JSONObject {
        let traits = try json.optionalObject("traits", at: place) ?? [:]
        for (name, value) in traits {
            try requireWord(name, "a trait's name", in: "traits", at: place)
            switch value {
            case .string, .integer, .bool: continue
            case .array, .object, .null:
                throw VaultError(
                    .usage, "the member \"traits\" has no plain value for '\(name)'", at: place,
                    remedy: "use a string, an integer, true or false")
            }
        }
        return traits
    }

    private static func requireWord(_ text: String, _ kind: String, in member: String, at place: String)
        throws(VaultError)
    {
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...256).contains(text.utf8.count), isPlain else {
            throw VaultError(
                .usage, "'\(text)' in the member \"\(member)\" can't be \(kind)", at: place,
                remedy: "use 1 to 256 bytes without control characters")
        }
    }
}
