/// A strong entity tag: equal tags mean equal content (RFC 9110, section 8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// With its quotation marks.
    public let text: String

    /// Nil unless it is a strong tag of at most 256 visible ASCII characters in quotation marks.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (2...258).contains(bytes.count), bytes.first == 0x22, bytes.last == 0x22,
            bytes.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 })
        else { return nil }
        self.text = text
    }
}
