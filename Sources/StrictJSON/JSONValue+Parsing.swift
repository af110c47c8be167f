public import VaultErrors

extension JSONValue {
    /// Parses exactly one strict JSON text by the rules of ``JSONReader``. Duplicate keys in one object, also those
    /// written with escapes, are refused.
    ///
    /// - Parameter place: the source in errors: a file, a URL, a role.
    /// - Throws: ``VaultErrors/VaultError`` of category `corrupt`.
    public init(parsing source: Span<UInt8>, place: String) throws(VaultError) {
        var parser = JSONParser(place: place)
        self = try parser.document(in: source)
    }
}

/// Builds values from tokens. The contents of open containers are on two stacks, so that each container is allocated
/// once with its final size: metadata of large sites has many small ones.
private struct JSONParser {
    private var reader: JSONReader
    private let place: String
    private var elements: [JSONValue] = []
    private var members: [JSONObject.Member] = []

    init(place: String) {
        reader = JSONReader(place: place)
        self.place = place
    }

    mutating func document(in source: Span<UInt8>) throws(VaultError) -> JSONValue {
        let value = try value(startingWith: try reader.next(in: source), in: source)
        _ = try reader.next(in: source)
        return value
    }

    /// The reader's depth limit bounds the recursion.
    private mutating func value(
        startingWith token: JSONToken, in source: Span<UInt8>
    ) throws(VaultError) -> JSONValue {
        switch token {
        case .beginObject: .object(try object(in: source))
        case .beginArray: .array(try array(in: source))
        case .string(let text): .string(text.string(in: source))
        case .integer(let value): .integer(value)
        case .bool(let value): .bool(value)
        case .null, .key, .endObject, .endArray, .end: .null
        }
    }

    private mutating func array(in source: Span<UInt8>) throws(VaultError) -> [JSONValue] {
        let start = elements.count
        while case let token = try reader.next(in: source), token != .endArray {
            let element = try value(startingWith: token, in: source)
            elements.append(element)
        }
        defer { elements.removeSubrange(start...) }
        return Array(elements[start...])
    }

    private mutating func object(in source: Span<UInt8>) throws(VaultError) -> JSONObject {
        let start = members.count
        while case .key(let text) = try reader.next(in: source) {
            let value = try value(startingWith: try reader.next(in: source), in: source)
            members.append(JSONObject.Member(key: text.string(in: source), value: value))
        }
        var duplicate: String?
        let object = JSONObject(unsorted: Array(members[start...]), duplicate: &duplicate)
        members.removeSubrange(start...)
        if let duplicate {
            throw VaultError(
                .corrupt, "the key \"\(duplicate.excerpt)\" occurs twice in one object", at: place,
                remedy: "get the file again, or remove one of the two members")
        }
        return object
    }
}
