/// The bytes that are asked for: both ends count, as in `Range: bytes=0-499` (RFC 9110, section 14.1.2).
public struct ByteRange: Hashable, Sendable {
    /// The first byte, counted from 0.
    public let first: UInt64
    /// The last byte; nil asks for all that follows.
    public let last: UInt64?

    public init(_ bytes: ClosedRange<UInt64>) { (first, last) = (bytes.lowerBound, bytes.upperBound) }

    public init(_ bytes: PartialRangeFrom<UInt64>) { (first, last) = (bytes.lowerBound, nil) }

    var headerValue: String { "bytes=\(first)-\(last.map(String.init) ?? "")" }
}

/// The bytes that came, and how many the whole file has: `Content-Range: bytes 0-499/1234`.
public struct ContentRange: Hashable, Sendable {
    public let first: UInt64
    public let last: UInt64
    /// The size of the whole file.
    public let total: UInt64

    /// How many bytes the part has.
    public var count: UInt64 { last - first + 1 }

    /// Nil unless `first <= last < total`, so that ``count`` can't overflow.
    init?(first: UInt64, last: UInt64, total: UInt64) {
        guard first <= last, last < total else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Reads the header's value (RFC 9110, section 14.4); a total of `*` is refused.
    init?(headerValue: String) {
        guard let (bounds, total) = Self.boundsAndTotal(headerValue), let total else { return nil }
        let ends = bounds.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1])
        else { return nil }
        self.init(first: first, last: last, total: total)
    }

    /// The size that a 416 tells: `bytes */1234`.
    static func total(ofUnsatisfied headerValue: String) -> UInt64? {
        guard let (bounds, total) = boundsAndTotal(headerValue), bounds == "*" else { return nil }
        return total
    }

    /// Whether this is the whole of what was asked for, as far as the file goes.
    func answers(_ asked: ByteRange) -> Bool {
        first == asked.first && last == min(asked.last ?? .max, total - 1)
    }

    private static func boundsAndTotal(_ text: String) -> (Substring, UInt64?)? {
        guard text.utf8.count <= 128, text.prefix(6).lowercased() == "bytes " else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], number(parts[1])) : nil
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}
