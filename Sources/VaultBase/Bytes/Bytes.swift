extension [UInt8] {
    @inlinable public mutating func appendBigEndian(_ value: some FixedWidthInteger & UnsignedInteger) {
        var shift = value.bitWidth - 8
        while shift >= 0 {
            append(UInt8(truncatingIfNeeded: value >> shift))
            shift -= 8
        }
    }

    @inlinable public mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension Span where Element == UInt8 {
    /// The unsigned big-endian integer at `offset`; nil when the span ends before it does.
    @inlinable public func bigEndian<Value: FixedWidthInteger & UnsignedInteger>(
        _: Value.Type, at offset: Int
    ) -> Value? {
        let width = Value.bitWidth / 8
        guard offset >= 0, offset <= count, count - offset >= width else { return nil }
        var value: Value = 0
        for index in offset..<(offset + width) { value = (value << 8) | Value(self[index]) }
        return value
    }

    /// The little-endian integer of up to 8 bytes at `start`; nil when the span ends before it does.
    @inlinable public func littleEndian(at start: Int, byteLength: Int) -> UInt64? {
        guard start >= 0, start <= count, byteLength <= count - start else { return nil }
        var value: UInt64 = 0
        for index in (0..<byteLength).reversed() { value = value << 8 | UInt64(self[start + index]) }
        return value
    }
}

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

extension String {
    /// Whether the UTF-8 bytes are equal; `==` also accepts canonically equivalent strings.
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        let left = utf8Span.span
        let right = other.utf8Span.span
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] {
            return false
        }
        return true
    }

    /// Whether it sorts before `other` by UTF-8 bytes, which is also the order of Unicode scalars.
    @inlinable public func bytesPrecede(_ other: String) -> Bool {
        let left = utf8Span.span
        let right = other.utf8Span.span
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}
