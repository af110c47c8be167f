extension String {
    /// Equality of the UTF-8 bytes; `==` would also hold for canonically equivalent texts.
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        let left = utf8Span.span
        let right = other.utf8Span.span
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] {
            return false
        }
        return true
    }

    /// The order of the UTF-8 bytes, which is also the order of the Unicode scalars.
    @inlinable public func bytesPrecede(_ other: String) -> Bool {
        let left = utf8Span.span
        let right = other.utf8Span.span
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}
