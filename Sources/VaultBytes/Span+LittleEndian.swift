extension Span<UInt8> {
    /// The little-endian integer of up to 8 bytes at `start`; nil when the span ends before it does.
    @inlinable public func littleEndian(at start: Int, byteLength: Int) -> UInt64? {
        guard start >= 0, start <= count, byteLength <= count - start else { return nil }
        var value: UInt64 = 0
        for index in (0..<byteLength).reversed() { value = value << 8 | UInt64(self[start + index]) }
        return value
    }
}
