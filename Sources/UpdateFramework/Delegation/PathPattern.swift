/// A pattern for target paths (PATHPATTERN, TUF section 4.5): `*` matches any characters of one segment, `?` one character;
/// neither matches a slash. Everything else is literal.
package struct PathPattern: Sendable, Hashable {
    let text: String
    private let segments: [[Unicode.Scalar]]

    package init(_ text: String) {
        self.text = text
        segments = Self.segments(of: text)
    }

    package func matches(_ path: String) -> Bool {
        let parts = Self.segments(of: path)
        return parts.count == segments.count
            && zip(segments, parts).allSatisfy { Self.matches($0[...], $1[...]) }
    }

    private static func segments(of text: String) -> [[Unicode.Scalar]] {
        text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { Array($0) }
    }

    /// On a mismatch only the last star is extended by one character: the time is at most the product of the two
    /// lengths.
    private static func matches(_ pattern: ArraySlice<Unicode.Scalar>, _ text: ArraySlice<Unicode.Scalar>)
        -> Bool
    {
        var (pattern, text) = (pattern, text)
        var retry: (pattern: ArraySlice<Unicode.Scalar>, text: ArraySlice<Unicode.Scalar>)?
        while let scalar = text.first {
            if pattern.first == "*" {
                pattern = pattern.dropFirst()
                retry = (pattern, text)
            } else if let expected = pattern.first, expected == "?" || expected == scalar {
                pattern = pattern.dropFirst()
                text = text.dropFirst()
            } else if let last = retry {
                (pattern, text) = (last.pattern, last.text.dropFirst())
                retry = (pattern, text)
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == "*" }
    }
}
