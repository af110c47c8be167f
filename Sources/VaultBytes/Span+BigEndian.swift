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
}
