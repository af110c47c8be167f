public import VaultErrors

extension JSONValue {
    /// Parses exactly one strict JSON text; see ``JSONReader`` for what is refused. A key that occurs
    /// twice in one object, also by way of escapes, is refused too.
    ///
    /// - Parameter place: what is read, for error messages: a file, a URL, a role.
    /// - Throws: ``VaultErrors/VaultError`` of category `corrupt`.
    public init(parsing source: Span<UInt8>, place: String) throws(VaultError) {
        var reader = JSONReader(place: place)
        let first = try reader.next(in: source)
        self = try JSONValue(startingWith: first, from: &reader, in: source, place: place)
        _ = try reader.next(in: source)
    }

    /// The reader's depth limit bounds the recursion.
    private init(
        startingWith token: JSONToken, from reader: inout JSONReader, in source: Span<UInt8>, place: String
    ) throws(VaultError) {
        switch token {
        case .beginObject:
            self = .object(try JSONObject(from: &reader, in: source, place: place))
        case .beginArray:
            var elements: [JSONValue] = []
            while case let token = try reader.next(in: source), token != .endArray {
                elements.append(try JSONValue(startingWith: token, from: &reader, in: source, place: place))
            }
            self = .array(elements)
        case .string(let text): self = .string(text.string(in: source))
        case .integer(let value): self = .integer(value)
        case .bool(let value): self = .bool(value)
        case .null, .key, .endObject, .endArray, .end: self = .null
        }
    }

    fileprivate static func parse(
        from reader: inout JSONReader, in source: Span<UInt8>, place: String
    ) throws(VaultError) -> JSONValue {
        let token = try reader.next(in: source)
        return try JSONValue(startingWith: token, from: &reader, in: source, place: place)
    }
}

extension JSONObject {
    fileprivate init(from reader: inout JSONReader, in source: Span<UInt8>, place: String) throws(VaultError)
    {
        var members: [Member] = []
        while case .key(let text) = try reader.next(in: source) {
            let value = try JSONValue.parse(from: &reader, in: source, place: place)
            members.append(Member(key: text.string(in: source), value: value))
        }
        var duplicate: String?
        self.init(unsorted: members, duplicate: &duplicate)
        if let duplicate {
            throw VaultError(
                .corrupt, "the key \"\(duplicate.excerpt)\" occurs twice in one object", at: place,
                remedy: "get the file again, or remove one of the two members")
        }
    }
}
