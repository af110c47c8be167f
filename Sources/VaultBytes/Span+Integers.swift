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
