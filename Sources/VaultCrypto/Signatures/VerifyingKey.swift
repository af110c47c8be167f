/// A public key of any supported kind that verifies signatures.
public struct VerifyingKey: Hashable, Sendable {
    /// The signature scheme; each kind of key has one.
    public enum Scheme: Sendable, Hashable, CaseIterable {
        /// RFC 8032; signatures of 64 bytes.
        case ed25519
        /// ECDSA (FIPS 186-4) on P-256 with SHA-256; signatures in DER (RFC 3279), at most 72 bytes.
        case ecdsaP256SHA256
        /// RSASSA-PSS (RFC 8017) with SHA-256, MGF1 with SHA-256 and a salt of any size; signatures as long as the
        /// modulus.
        case rsaPSSSHA256
    }

    public let scheme: Scheme

    /// Normalised SubjectPublicKeyInfo (RFC 5280) in DER, so that equal keys have equal bytes.
    public let encoded: [UInt8]

    /// The DER before the 32 bytes of an Ed25519 key (RFC 8410).
    private static let ed25519Header: [UInt8] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    public init(_ key: Ed25519PublicKey) {
        scheme = .ed25519
        encoded = Self.ed25519Header + key.raw
    }

    /// Nil unless the text is one PEM public key ("-----BEGIN PUBLIC KEY-----", RFC 7468) with only whitespace
    /// around it, of a supported kind: Ed25519, ECDSA on the named curve P-256, RSA of 2,048 to 16,384 bits under
    /// `rsaEncryption`. The kind of key decides the scheme.
    public init?(pem: Span<UInt8>) {
        guard let content = PublicKeyPEM.content(of: pem),
            let key = PublicKeyHandle(der: content.span)?.normalised()
        else { return nil }
        scheme = key.scheme
        encoded = key.encoded
    }

    /// The key as PEM, in lines of 64 characters that end with a line feed.
    public var pem: String { PublicKeyPEM.text(of: encoded) }

    /// Ed25519's 32 raw bytes; nil for other kinds.
    public var ed25519: Ed25519PublicKey? {
        guard scheme == .ed25519 else { return nil }
        return Ed25519PublicKey(raw: encoded.span.extracting(last: Ed25519PublicKey.rawLength))
    }

    /// True only for a signature that this key's owner made over exactly this message, in the key's scheme.
    public func isValid(signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        if let ed25519 { return ed25519.isValid(signature: signature, for: message) }
        guard let key = PublicKeyHandle(der: encoded.span) else { return false }
        return key.isValid(signature: signature, for: message, scheme: scheme)
    }
}
