extension Span where Element == UInt8 {
    @inlinable public func equals(_ other: [UInt8]) -> Bool { equals(other.span) }

    @inlinable public func equals(_ other: Span<UInt8>) -> Bool {
        count == other.count && commonPrefixLength(with: other) == count
    }

    /// The number of equal bytes at the start of both.
    @inlinable public func commonPrefixLength(with other: Span<UInt8>) -> Int {
        let end = Swift.min(count, other.count)
        var index = 0
        unsafe withUnsafeBytes { (mine) in
            unsafe other.withUnsafeBytes { (others) in
                while index <= end - 8,
                    unsafe mine.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        == others.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                { index += 8 }
            }
        }
        while index < end, self[index] == other[index] { index += 1 }
        return index
    }

    /// Whether it sorts before `other` in byte order.
    @inlinable public func precedes(_ other: Span<UInt8>) -> Bool {
        let common = commonPrefixLength(with: other)
        guard common < other.count else { return false }
        return common == count || self[common] < other[common]
    }
}
