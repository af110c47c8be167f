import StrictJSON
import VaultBytes
public import VaultErrors
public import VaultKeys

/// The public ID of a content key: 16 bytes derived from it, so a key can be verified by its ID.
public struct ContentKeyID: Hashable, Sendable, CustomStringConvertible {
    public static let count = 16

    public let bytes: [UInt8]

    /// Throws `.corrupt` unless there are 16 bytes.
    public init(_ bytes: [UInt8], place: String) throws(VaultError) {
        guard bytes.count == Self.count else {
            throw VaultError(
                .corrupt, "a content key ID has \(Self.count) bytes", at: place,
                remedy: "get the manifest again")
        }
        self.bytes = bytes
    }

    /// Reads the unpadded base64url form. Throws `.corrupt`.
    public init(_ text: String, place: String) throws(VaultError) {
        try self.init(Base64URL.decode(text.utf8) ?? [], place: place)
    }

    /// Unpadded base64url (RFC 4648, section 5).
    public var description: String { Base64URL.encode(bytes.span) }

    /// The `kid` of this content key as an injected key.
    public var keyID: KeyID? { try? KeyID(description) }
}
