import VaultBytes

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
