public import VaultBase

/// A key that wraps content keys: 256 bits, JWK `"alg": "A256KW"` (RFC 7518, section 4.4).
///
/// A class, so that the secret bytes exist once.
public final class VaultKey: Sendable {
    public static let byteCount = 32

    public let id: KeyID
    /// 32 bytes.
    public let secret: SecretBytes
    /// Where it was read, for messages.
    let place: String

    /// - Throws: ``VaultBase/VaultError`` of category `key` unless `secret` has 32 bytes.
    public convenience init(id: KeyID, secret: consuming SecretBytes) throws(VaultError) {
        try self.init(id: id, secret: secret, place: "key '\(id)'")
    }

    init(id: KeyID, secret: consuming SecretBytes, place: String) throws(VaultError) {
        guard secret.count == Self.byteCount else { throw .wrongSize(secret.count, at: "key '\(id)'") }
        self.id = id
        self.secret = secret
        self.place = place
    }
}

/// The content key of one pack ID, injected by itself (one pack, one purchaser): JWK
/// `"alg": "x-assetvault-content-1"`, `"key_ops": ["deriveKey"]`, `kid` the base64url of the content key ID.
///
/// It opens that pack, and its later versions until the content key is rotated, but unwraps nothing.
public final class InjectedContentKey: Sendable {
    public static let algorithm = "x-assetvault-content-1"
    public static let byteCount = 32
    public static let contentKeyIDByteCount = 16

    /// The base64url of the content key ID: 22 characters.
    public let id: KeyID
    /// 16 bytes, unverified: users of the key check that its ID is this one.
    public let contentKeyID: [UInt8]
    /// 32 bytes.
    public let secret: SecretBytes

    /// - Throws: ``VaultBase/VaultError`` of category `key` unless the ID has 16 bytes and `secret` 32.
    public convenience init(contentKeyID: [UInt8], secret: consuming SecretBytes) throws(VaultError) {
        try self.init(id: KeyID(Base64URL.encode(contentKeyID.span)), secret: secret, place: "content key")
    }

    init(id: KeyID, secret: consuming SecretBytes, place: String) throws(VaultError) {
        guard let contentKeyID = Base64URL.decode(id.description.utf8),
            contentKeyID.count == Self.contentKeyIDByteCount
        else {
            throw VaultError(
                .key, "the kid of a content key is not the base64url of a 16-byte content key ID", at: place,
                remedy: "export the content key again")
        }
        guard secret.count == Self.byteCount else { throw .wrongSize(secret.count, at: place) }
        self.id = id
        self.contentKeyID = contentKeyID
        self.secret = secret
    }
}

extension VaultError {
    fileprivate static func wrongSize(_ count: Int, at place: String) -> VaultError {
        VaultError(
            .key, "the key has \(count) bytes, not 32", at: place, remedy: "give the 256-bit key itself")
    }
}

/// The public ID of a key, a JWK's `kid`: 1 to 64 characters of `A-Z a-z 0-9 _ -`, so that it is safe in paths and on
/// command lines.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Throws: ``VaultBase/VaultError`` of category `key`, which does not repeat the text.
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
