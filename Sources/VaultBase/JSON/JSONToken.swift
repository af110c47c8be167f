/// A token of ``JSONReader``.
public enum JSONToken: Sendable, Hashable {
    case beginObject
    /// The key of the member whose value follows.
    case key(JSONText)
    case endObject
    case beginArray
    case endArray
    case string(JSONText)
    case integer(Int64)
    case bool(Bool)
    case null
    /// The document is complete, and only white space follows.
    case end
}

/// The range of a string in the source, without its quotes; valid UTF-8 with valid escapes.
///
/// A secret can be read from the source by its range without becoming a `String`.
public struct JSONText: Sendable, Hashable {
    public let range: Range<Int>
    /// Whether the bytes of the range contain escapes.
    public let hasEscapes: Bool

    public init(range: Range<Int>, hasEscapes: Bool) {
        self.range = range
        self.hasEscapes = hasEscapes
    }

    /// The text, copied from the token's source.
    public func string(in source: Span<UInt8>) -> String {
        let bytes = source.extracting(range)
        guard hasEscapes, let unescaped = Self.unescape(bytes) else {
            return String(decoding: bytes)
        }
        return unescaped
    }

    /// Never nil for a range from a reader.
    private static func unescape(_ bytes: Span<UInt8>) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                text.append(bytes[index])
                index += 1
                continue
            }
            guard let escape = JSONEscape(at: index, in: bytes) else { return nil }
            text.append(contentsOf: Unicode.UTF8.encode(escape.scalar) ?? .init())
            index += escape.count
        }
        return String(decoding: text.span)
    }
}

extension String {
    /// A copy of validated bytes; never fails or traps.
    init(decoding bytes: Span<UInt8>) {
        if let text = try? UTF8Span(validating: bytes) {
            self.init(copying: text)
        } else {
            self = "\u{FFFD}"
        }
    }
}

/// One escape sequence of a JSON string, a surrogate pair counting as one (RFC 8259, section 7).
struct JSONEscape {
    let scalar: Unicode.Scalar
    /// The length of the sequence in bytes, including backslashes.
    let count: Int

    /// Nil when the bytes at `start`, a backslash, are not a valid escape of a Unicode scalar.
    init?(at start: Int, in bytes: Span<UInt8>) {
        guard start + 1 < bytes.count else { return nil }
        let simple: Unicode.Scalar
        switch bytes[start + 1] {
        case UInt8(ascii: "\""): simple = "\""
        case UInt8(ascii: "\\"): simple = "\\"
        case UInt8(ascii: "/"): simple = "/"
        case UInt8(ascii: "b"): simple = "\u{08}"
        case UInt8(ascii: "f"): simple = "\u{0C}"
        case UInt8(ascii: "n"): simple = "\n"
        case UInt8(ascii: "r"): simple = "\r"
        case UInt8(ascii: "t"): simple = "\t"
        case UInt8(ascii: "u"):
            guard let (scalar, count) = Self.unicode(at: start, in: bytes) else { return nil }
            (self.scalar, self.count) = (scalar, count)
            return
        default: return nil
        }
        (scalar, count) = (simple, 2)
    }

    /// One `\uXXXX`, or two that make a surrogate pair.
    private static func unicode(at start: Int, in bytes: Span<UInt8>) -> (Unicode.Scalar, count: Int)? {
        guard let first = codeUnit(at: start, in: bytes) else { return nil }
        if let single = Unicode.Scalar(first) { return (single, 6) }
        guard let second = codeUnit(at: start + 6, in: bytes),
            (0xD800...0xDBFF).contains(first), (0xDC00...0xDFFF).contains(second),
            let pair = Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
        else { return nil }
        return (pair, 12)
    }

    /// The value of `\uXXXX` at `start`.
    private static func codeUnit(at start: Int, in bytes: Span<UInt8>) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
            bytes[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt16 = 0
        for index in start + 2..<start + 6 {
            guard let digit = Hexadecimal.digit(bytes[index]) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
