/// The requested bytes, both ends included, as in `Range: bytes=0-499` (RFC 9110, section 14.1.2).
public struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte.
    public let first: UInt64
    /// The offset of the last byte, which may be after the end of the file.
    public let last: UInt64

    public init(_ bytes: ClosedRange<UInt64>) { (first, last) = (bytes.lowerBound, bytes.upperBound) }

    package var headerValue: String { "bytes=\(first)-\(last)" }
}

/// The received bytes and the size of the whole file: `Content-Range: bytes 0-499/1234`.
public struct ContentRange: Hashable, Sendable {
    public let first: UInt64
    public let last: UInt64
    /// The size of the whole file.
    public let total: UInt64

    /// In bytes.
    public var length: UInt64 { last - first + 1 }

    /// Nil unless `first <= last < total`, so that ``length`` can't overflow.
    public init?(first: UInt64, last: UInt64, total: UInt64) {
        guard first <= last, last < total else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Parses the header's value (RFC 9110, section 14.4); a total of `*` is refused.
    package init?(headerValue: String) {
        guard let (bounds, total) = Self.boundsAndTotal(headerValue), let total else { return nil }
        let ends = bounds.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1])
        else { return nil }
        self.init(first: first, last: last, total: total)
    }

    /// The size of the file in a 416 response: `bytes */1234`.
    package static func total(ofUnsatisfied headerValue: String) -> UInt64? {
        guard let (bounds, total) = boundsAndTotal(headerValue), bounds == "*" else { return nil }
        return total
    }

    /// Whether this is the requested range, up to the end of the file.
    package func matches(_ requested: ByteRange) -> Bool {
        first == requested.first && last == min(requested.last, total - 1)
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
