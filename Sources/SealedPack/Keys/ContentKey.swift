import VaultBytes
package import VaultCrypto
public import VaultErrors

/// The key of one pack ID, and the keys derived from it: `HKDF-Expand-SHA-512(content key,
/// "assetvault/v1/" || name)` (RFC 5869, section 2.3). A class, so that the secret bytes exist once.
public final class ContentKey: Sendable {
    public static let count = 32

    public let id: ContentKeyID
    let secret: SecretBytes
    /// Cobblestone input keys.
    let pieceKey: SecretBytes
    package let catalogKey: SecretBytes
    /// HMAC-SHA-256 keys.
    let saltKey: SecretBytes
    package let cutKey: SecretBytes
    private let nameKey: SecretBytes

    /// Throws `.key` unless `secret` has 32 bytes.
    init(_ secret: consuming SecretBytes) throws(VaultError) {
        guard secret.count == Self.count else {
            throw VaultError(
                .key, "a content key has \(Self.count) bytes", at: "content key",
                remedy: "inject the right key")
        }
        let name = try Self.derive("key-id", count: ContentKeyID.count, from: secret)
        pieceKey = try Self.derive("piece", count: 32, from: secret)
        catalogKey = try Self.derive("catalog", count: 32, from: secret)
        saltKey = try Self.derive("salt", count: 32, from: secret)
        cutKey = try Self.derive("cut", count: 32, from: secret)
        nameKey = try Self.derive("name", count: 32, from: secret)
        var bytes: [UInt8] = []
        name.withBytes { bytes.append(copying: $0) }
        id = try ContentKeyID(bytes, place: "content key")
        self.secret = secret
    }

    /// A fresh random key.
    public static func generate() throws(VaultError) -> ContentKey {
        try ContentKey(SecretBytes(randomLength: count))
    }

    /// A name for a text that tells nothing of it without this key: the first 128 bits of its HMAC-SHA-256, in hexadecimal.
    public func quietName(of text: String) -> String {
        var authenticator = HMACSHA256(key: nameKey)
        return String(authenticator.authenticate(Array(text.utf8).span).hex.prefix(32))
    }

    private static func derive(_ name: String, count: Int, from secret: borrowing SecretBytes)
        throws(VaultError)
        -> SecretBytes
    {
        let info = Array("assetvault/v1/\(name)".utf8)
        return try HKDF.expandSHA512(secret, info: info.span, count: count)
    }
}
