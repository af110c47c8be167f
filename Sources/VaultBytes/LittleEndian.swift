extension Span<UInt8> {
    /// The little-endian number of up to 8 bytes at `start`; nil where the bytes end before.
    @inlinable public func littleEndian(at start: Int, byteCount: Int) -> UInt64? {
        guard start >= 0, start <= count, byteCount <= count - start else { return nil }
        var value: UInt64 = 0
        for index in (0..<byteCount).reversed() { value = value << 8 | UInt64(self[start + index]) }
        return value
    }
}
