/// Reads a JSON text token by token and refuses everything that RFC 8259 does not allow, and floating-point numbers,
/// integers beyond 2^53 - 1, invalid UTF-8, lone surrogates, nesting beyond a limit, and more values than a text of its length
/// has for a reason: each takes memory, so a reader needs at most a small multiple of the text.
///
/// The reader stores only a position; every call gets the same source. The caller must refuse duplicate keys, as
/// ``JSONValue/init(parsing:place:)`` does.
public struct JSONReader: Sendable {
    private enum Expectation {
        case value, firstElement, firstKey, key, separator, end
    }

    /// The offset after the last token.
    public private(set) var position = 0
    private var expectation = Expectation.value
    /// The open containers; true means object.
    private var nesting: [Bool] = []
    private let depthLimit: Int
    private var valueCount = 0

    /// A text may have this many values, and one more for each ``bytesPerValue`` bytes.
    private static let valueAllowance = 1 << 16
    /// The elements of a long list that this program writes are texts or objects: the shortest text, of one character, has 4 bytes
    /// with its quotes and comma. So no list that it writes is refused, however long it is.
    private static let bytesPerValue = 4
    private let place: String

    /// - Parameter place: the source in errors: a file, a URL, a role.
    public init(place: String, depthLimit: Int = 64) {
        self.place = place
        self.depthLimit = depthLimit
    }

    /// The next token; always `.end` after the last.
    ///
    /// - Throws: ``VaultError`` of category `corrupt`, which states the byte's offset.
    public mutating func next(in source: Span<UInt8>) throws(VaultError) -> JSONToken {
        skipWhiteSpace(in: source)
        if expectation == .end {
            guard position >= source.count else {
                throw refusal("more data follows the end of the JSON text")
            }
            return .end
        }
        guard position < source.count else { throw refusal("the JSON text ends too early") }
        let byte = source[position]
        switch expectation {
        case .separator:
            guard byte == UInt8(ascii: ",") else { return try close(byte) }
            position += 1
            expectation = nesting.last == true ? .key : .value
            return try next(in: source)
        case .firstKey where byte == UInt8(ascii: "}"), .firstElement where byte == UInt8(ascii: "]"):
            return try close(byte)
        case .key where byte == UInt8(ascii: "}"):
            throw refusal("a comma stands before the end of an object")
        case .value where byte == UInt8(ascii: "]") && nesting.last == false:
            throw refusal("a comma stands before the end of an array")
        case .firstKey, .key:
            return try key(in: source)
        case .value, .firstElement, .end:
            return try value(byte, in: source)
        }
    }

    private mutating func skipWhiteSpace(in source: Span<UInt8>) {
        while position < source.count {
            switch source[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func close(_ byte: UInt8) throws(VaultError) -> JSONToken {
        let isObject = nesting.last == true
        guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw refusal("a comma or the end of \(isObject ? "an object" : "an array") is missing")
        }
        position += 1
        nesting.removeLast()
        finishValue()
        return isObject ? .endObject : .endArray
    }

    private mutating func finishValue() {
        expectation = nesting.isEmpty ? .end : .separator
    }

    private mutating func key(in source: Span<UInt8>) throws(VaultError) -> JSONToken {
        guard source[position] == UInt8(ascii: "\"") else { throw refusal("expected a key in quotes") }
        let text = try string(in: source)
        skipWhiteSpace(in: source)
        guard position < source.count, source[position] == UInt8(ascii: ":") else {
            throw refusal("expected a colon after the key")
        }
        position += 1
        expectation = .value
        return .key(text)
    }

    private mutating func value(_ byte: UInt8, in source: Span<UInt8>) throws(VaultError) -> JSONToken {
        valueCount += 1
        guard valueCount <= Self.valueAllowance + source.count / Self.bytesPerValue else {
            throw refusal("it has too many values for its \(source.count) bytes")
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard nesting.count < depthLimit else {
                throw refusal("it is nested deeper than \(depthLimit) levels")
            }
            let isObject = byte == UInt8(ascii: "{")
            nesting.append(isObject)
            position += 1
            expectation = isObject ? .firstKey : .firstElement
            return isObject ? .beginObject : .beginArray
        case UInt8(ascii: "\""):
            let text = try string(in: source)
            finishValue()
            return .string(text)
        case UInt8(ascii: "t"): return try word("true", .bool(true), in: source)
        case UInt8(ascii: "f"): return try word("false", .bool(false), in: source)
        case UInt8(ascii: "n"): return try word("null", .null, in: source)
        default:
            let number = try integer(in: source)
            finishValue()
            return .integer(number)
        }
    }

    private mutating func word(_ word: StaticString, _ token: JSONToken, in source: Span<UInt8>)
        throws(VaultError)
        -> JSONToken
    {
        for expected in word.description.utf8 {
            guard position < source.count, source[position] == expected else {
                throw refusal("expected a JSON value")
            }
            position += 1
        }
        finishValue()
        return token
    }

    private mutating func string(in source: Span<UInt8>) throws(VaultError) -> JSONText {
        position += 1
        let start = position
        var hasEscapes = false
        var isASCII = true
        while position < source.count {
            switch source[position] {
            case UInt8(ascii: "\""):
                let range = start..<position
                if !isASCII, (try? UTF8Span(validating: source.extracting(range))) == nil {
                    throw refusal("a string is not valid UTF-8")
                }
                position += 1
                return JSONText(range: range, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                guard let escape = JSONEscape(at: position, in: source) else {
                    throw refusal("a string holds an invalid escape")
                }
                hasEscapes = true
                position += escape.count
            case 0x00..<0x20:
                throw refusal("a string holds a raw control character")
            case let byte:
                if byte >= 0x80 { isASCII = false }
                position += 1
            }
        }
        throw refusal("the JSON text ends inside a string")
    }

    private mutating func integer(in source: Span<UInt8>) throws(VaultError) -> Int64 {
        let isNegative = source[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let start = position
        var magnitude: Int64 = 0
        while position < source.count, case let digit = source[position], (0x30...0x39).contains(digit) {
            magnitude = magnitude * 10 + Int64(digit - 0x30)
            guard JSONValue.integerRange.contains(magnitude) else {
                throw refusal("an integer is larger than 2^53 - 1")
            }
            position += 1
        }
        guard position > start else { throw refusal("expected a JSON value") }
        guard position == start + 1 || source[start] != 0x30 else {
            throw refusal("a number begins with a zero")
        }
        if position < source.count,
            [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(source[position])
        {
            throw refusal("a number is not an integer")
        }
        return isNegative ? -magnitude : magnitude
    }

    private func refusal(_ problem: String) -> VaultError {
        VaultError(
            .corrupt, "\(problem) (byte \(position))", at: place,
            remedy: "get or write the file again as strict JSON (RFC 8259) with integers only")
    }
}
