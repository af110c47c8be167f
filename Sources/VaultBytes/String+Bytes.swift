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
