/// A JSON value of signed documents: no floating-point numbers, no duplicate keys.
///
/// Strings compare by their UTF-8 bytes, never by canonical equivalence, so that different bytes are different values.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The integers of magnitude up to 2^53 - 1, which every JSON implementation reads exactly (RFC 8259, section 6).
    /// Parsing refuses others.
    public static let integerRange: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991
}

extension JSONValue: Hashable {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// A key that occurs twice keeps its last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(lastWins: elements))
    }
}

extension JSONValue {
    /// The texts of an array of texts; nil for anything else.
    public var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { return nil }
            texts.append(text)
        }
        return texts
    }
}

extension JSONValue {
    /// The kind of the value, for errors.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// Parses exactly one strict JSON text by the rules of ``JSONReader``. Duplicate keys in one object, also those
    /// written with escapes, are refused.
    ///
    /// - Parameter place: the source in errors: a file, a URL, a role.
    /// - Throws: ``VaultError`` of category `corrupt`.
    public init(parsing source: Span<UInt8>, place: String) throws(VaultError) {
        var parser = JSONParser(place: place)
        self = try parser.document(in: source, taking: nil) { _ in }
    }

    /// The same for a text that may be long: the elements of one array of the outermost object are handed over one by one, and the
    /// array is empty in the value.
    ///
    /// - Parameters:
    ///   - key: the member with that array. Where it is something else, it is in the value as it is.
    ///   - take: called with each element.
    public init(
        parsing source: Span<UInt8>, place: String, taking key: String,
        _ take: (JSONValue) throws(VaultError) -> Void
    ) throws(VaultError) {
        var parser = JSONParser(place: place)
        self = try parser.document(in: source, taking: key, take)
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

    /// - Parameter key: the elements of the array that the outermost object has under it are taken instead of kept.
    mutating func document(
        in source: Span<UInt8>, taking key: String?, _ take: (JSONValue) throws(VaultError) -> Void
    ) throws(VaultError) -> JSONValue {
        let token = try reader.next(in: source)
        guard token == .beginObject, let key else {
            let value = try value(startingWith: token, in: source)
            _ = try reader.next(in: source)
            return value
        }
        var members: [JSONObject.Member] = []
        while case .key(let text) = try reader.next(in: source) {
            let name = text.string(in: source)
            let token = try reader.next(in: source)
            var value = JSONValue.array([])
            if token == .beginArray, name.hasSameBytes(as: key) {
                while case let token = try reader.next(in: source), token != .endArray {
                    try take(self.value(startingWith: token, in: source))
                }
            } else {
                value = try self.value(startingWith: token, in: source)
            }
            members.append(JSONObject.Member(key: name, value: value))
        }
        _ = try reader.next(in: source)
        return .object(try object(of: members))
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
        defer { members.removeSubrange(start...) }
        return try object(of: Array(members[start...]))
    }

    private func object(of members: [JSONObject.Member]) throws(VaultError) -> JSONObject {
        var duplicate: String?
        let object = JSONObject(unsorted: members, duplicate: &duplicate)
        if let duplicate {
            throw VaultError(
                .corrupt, "the key \"\(duplicate.excerpt)\" occurs twice in one object", at: place,
                remedy: "get the file again, or remove one of the two members")
        }
        return object
    }
}

extension JSONValue {
    /// OLPC canonical JSON, which TUF signs: sorted keys, no white space, only quotes and backslashes escaped in
    /// strings. It is *not* always JSON, as control characters are not escaped.
    public func canonical() -> [UInt8] { written(as: .canonical) }

    /// Sorted keys, two spaces a level, a newline at the end; deterministic. Control characters, line separators and
    /// bidirectional controls are escaped, also those that JSON allows.
    public func pretty() -> [UInt8] { written(as: .pretty) }

    /// Sorted keys, no white space but a newline at the end; escaped like ``pretty()``.
    public func compact() -> [UInt8] { written(as: .compact) }

    private enum Layout {
        case canonical, compact, pretty
    }

    private func written(as layout: Layout) -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, layout: layout, depth: 0)
        if layout != .canonical { bytes.append(UInt8(ascii: "\n")) }
        return bytes
    }

    private func write(to bytes: inout [UInt8], layout: Layout, depth: Int) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .string(let value): Self.write(value, to: &bytes, layout: layout)
        case .array(let elements):
            Self.write(elements, between: "[", "]", to: &bytes, layout: layout, depth: depth) {
                element, bytes in
                element.write(to: &bytes, layout: layout, depth: depth + 1)
            }
        case .object(let object):
            Self.write(object.members, between: "{", "}", to: &bytes, layout: layout, depth: depth) {
                member, bytes in
                Self.write(member.key, to: &bytes, layout: layout)
                bytes.append(contentsOf: (layout == .pretty ? ": " : ":").utf8)
                member.value.write(to: &bytes, layout: layout, depth: depth + 1)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between opening: Unicode.Scalar, _ closing: Unicode.Scalar, to bytes: inout [UInt8],
        layout: Layout, depth: Int, _ writeItem: (Item, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: opening))
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if layout == .pretty { beginLine(depth: depth + 1, in: &bytes) }
            writeItem(item, &bytes)
        }
        if layout == .pretty, !items.isEmpty { beginLine(depth: depth, in: &bytes) }
        bytes.append(UInt8(ascii: closing))
    }

    private static func beginLine(depth: Int, in bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private static func write(_ text: String, to bytes: inout [UInt8], layout: Layout) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        // Most strings need no escapes.
        guard !text.utf8.allSatisfy(isPlain) else { return bytes.append(contentsOf: text.utf8) }
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
            if layout != .canonical, scalar.needsEscapeForDisplay {
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
                bytes.append(contentsOf: "\\u\(zeros)\(digits)".utf8)
            } else {
                bytes.append(contentsOf: scalar.utf8)
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, a line separator, or changes the text direction, which is unsafe on
    /// terminals. All have at most four hexadecimal digits.
    fileprivate var needsEscapeForDisplay: Bool {
        switch value {
        case 0x00..<0x20, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
