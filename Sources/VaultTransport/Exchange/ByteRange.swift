/// The requested bytes, both ends included, as in `Range: bytes=0-499` (RFC 9110, section 14.1.2).
public struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte.
    public let first: UInt64
    /// The offset of the last byte; nil requests everything up to the end.
    public let last: UInt64?

    public init(_ bytes: ClosedRange<UInt64>) { (first, last) = (bytes.lowerBound, bytes.upperBound) }

    public init(_ bytes: PartialRangeFrom<UInt64>) { (first, last) = (bytes.lowerBound, nil) }

    var headerValue: String { "bytes=\(first)-\(last.map(String.init) ?? "")" }
}
