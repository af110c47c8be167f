public import VaultErrors

/// The public ID of a key, a JWK's `kid`: 1 to 64 characters of `A-Z a-z 0-9 _ -`, so that it is safe in paths and on
/// command lines.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Throws: ``VaultErrors/VaultError`` of category `key`, which does not repeat the text.
    public init(_ text: String) throws(VaultError) {
        try self.init(text, place: "key ID")
    }

    init(_ text: String, place: String) throws(VaultError) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw VaultError(
                .key, "a key ID (kid) is not 1 to 64 characters of A-Z, a-z, 0-9, _ and -", at: place,
                remedy: "give the key another kid")
        }
        description = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
