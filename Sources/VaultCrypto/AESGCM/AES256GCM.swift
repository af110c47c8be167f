public import VaultErrors

/// AES-256-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags, and no others.
///
/// A sealed message is the ciphertext and then the tag (RFC 5116, `AEAD_AES_256_GCM`).
public enum AES256GCM {
    public static let keyLength = 32
    public static let nonceLength = 12
    public static let tagLength = 16

    /// Encrypts; a nonce must be used only once with a key. `.key` for a key, `.usage` for a nonce of another size.
    public static func seal(
        _ message: Span<UInt8>, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var cipher = try begin(.seal, nonce: nonce, authenticating: associated, key: key)
        var sealed: [UInt8] = []
        sealed.reserveCapacity(message.count + tagLength)
        cipher.encrypt(message, appendingTo: &sealed)
        cipher.appendTag(to: &sealed)
        return sealed
    }

    /// Decrypts; returns no plaintext unless the tag is valid.
    ///
    /// `.corrupt` for a wrong or shortened tag, `.key` for a key, `.usage` for a nonce of another size.
    public static func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var cipher = try begin(.open, nonce: nonce, authenticating: associated, key: key)
        var message: [UInt8] = []
        guard cipher.decrypt(sealed, appendingTo: &message) else {
            throw VaultError(
                .corrupt, "authentication failed", at: "encrypted message",
                remedy: "use the right key, or fetch the data again")
        }
        return message
    }

    private static func begin(
        _ direction: GCMCipher.Direction, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> GCMCipher {
        guard key.count == keyLength else {
            throw VaultError(
                .key, "the key has \(key.count) bytes", at: "AES-256-GCM", remedy: "use one of 32 bytes")
        }
        guard nonce.count == nonceLength else {
            throw VaultError(
                .usage, "the nonce has \(nonce.count) bytes", at: "AES-256-GCM", remedy: "use one of 12 bytes"
            )
        }
        var cipher = key.withBytes { GCMCipher(direction, key: $0) }
        cipher.begin(nonce: nonce)
        cipher.authenticate(associated)
        return cipher
    }
}
