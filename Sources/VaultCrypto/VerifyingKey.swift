import CVaultOpenSSL

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

/// An Ed25519 public key (RFC 8032): 32 bytes, not secret.
public struct Ed25519PublicKey: Hashable, Sendable {
    public static let rawLength = 32
    public static let signatureLength = 64

    public let raw: [UInt8]

    /// Nil unless there are exactly 32 bytes. A key that is not a point of the curve accepts no signature.
    public init?(raw: Span<UInt8>) {
        guard raw.count == Self.rawLength else { return nil }
        self.raw = raw.indices.map { raw[$0] }
    }

    /// True only for a signature of exactly 64 bytes that this key's owner made over exactly this message.
    public func isValid(signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        guard let key = PublicKeyHandle(ed25519: raw.span) else { return false }
        return key.isValid(signature: signature, for: message, scheme: .ed25519)
    }
}

/// A temporary OpenSSL object of a public key.
@safe
struct PublicKeyHandle: ~Copyable {
    private let key: OpaquePointer

    /// Nil unless the bytes are one SubjectPublicKeyInfo (RFC 5280) and nothing else, of any kind that OpenSSL knows.
    init?(der: Span<UInt8>) {
        defer { ERR_clear_error() }
        let key = unsafe der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var position = der.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &position, der.count)
            if unsafe position == der.baseAddress.map({ unsafe $0 + der.count }) { return unsafe key }
            unsafe EVP_PKEY_free(key)
            return nil
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    /// Nil unless OpenSSL accepts the 32 bytes.
    init?(ed25519 raw: Span<UInt8>) {
        defer { ERR_clear_error() }
        let key = unsafe raw.withUnsafeBufferPointer { raw in
            unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw.baseAddress, raw.count)
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The key's scheme and its normalised SubjectPublicKeyInfo in DER; nil for an unsupported kind of key.
    func normalised() -> (scheme: VerifyingKey.Scheme, encoded: [UInt8])? {
        defer { ERR_clear_error() }
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_ED25519:
            return encoded().map { (.ed25519, $0) }
        case EVP_PKEY_EC:
            // By default OpenSSL writes a point in the form in which it was read.
            let form = OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT
            guard unsafe EVP_PKEY_set_utf8_string_param(key, form, "uncompressed") == 1,
                let encoded = encoded(), encoded.starts(with: Self.p256Header)
            else { return nil }
            return (.ecdsaP256SHA256, encoded)
        case EVP_PKEY_RSA:
            guard unsafe (2_048...16_384).contains(EVP_PKEY_get_bits(key)) else { return nil }
            return encoded().map { (.rsaPSSSHA256, $0) }
        default:
            return nil
        }
    }

    /// The DER before the 64 bytes of an uncompressed point on the named curve P-256 (RFC 5480). Other curves, explicit
    /// curve parameters and the point at infinity have another encoding.
    private static let p256Header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
        0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    private func encoded() -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(key, &start)
        defer { unsafe CRYPTO_free(start, #fileID, 0) }
        guard count > 0 else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// True only for a signature of the scheme over exactly this message.
    func isValid(signature: Span<UInt8>, for message: Span<UInt8>, scheme: VerifyingKey.Scheme) -> Bool {
        defer { ERR_clear_error() }
        // OpenSSL accepts RSA signatures without their leading zeros. A signature in DER has no fixed size.
        let size = unsafe Int(EVP_PKEY_get_size(key))
        guard scheme == .ecdsaP256SHA256 ? signature.count <= size : signature.count == size,
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = unsafe scheme == .ed25519 ? nil : Algorithm.sha256.pointer
        var parameters: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &parameters, digest, nil, key) == 1 else { return false }
        if scheme == .rsaPSSSHA256 {
            guard unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_mgf1_md(parameters, digest) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_AUTO) == 1
            else { return false }
        }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }
}

/// PEM of public keys (RFC 7468), without OpenSSL's reader, which skips any text around a key.
enum PublicKeyPEM {
    private static let start = Array("-----BEGIN PUBLIC KEY-----".utf8)
    private static let end = Array("-----END PUBLIC KEY-----".utf8)
    private static let lineLength = 64

    /// The longest text that is read, in bytes; those of the largest RSA keys have less than 6,000.
    private static let limit = 1 << 14

    /// The decoded bytes of the text's only block; nil if there is more than whitespace around it, if it is empty, or if its
    /// base64 is not canonical. Lines may have any length and end.
    static func content(of text: Span<UInt8>) -> [UInt8]? {
        guard text.count <= limit else { return nil }
        let text = text.indices.map { text[$0] }
        guard let first = text.firstIndex(where: { !isWhitespace($0) }), text[first...].starts(with: start),
            let last = text.lastIndex(where: { !isWhitespace($0) }),
            text[...last].reversed().starts(with: end.reversed())
        else { return nil }
        let inside = text.dropFirst(first + start.count).dropLast(text.count - 1 - last + end.count)
        let digits = inside.filter { !isWhitespace($0) }
        guard !digits.isEmpty else { return nil }
        let content = decoded(base64: digits)
        // OpenSSL's decoder accepts misplaced padding and non-zero bits after the end.
        return base64(of: content) == digits ? content : nil
    }

    /// The text, in lines of 64 characters that end with a line feed.
    static func text(of content: [UInt8]) -> String {
        let digits = base64(of: content)
        let lines = stride(from: 0, to: digits.count, by: lineLength).map {
            digits.dropFirst($0).prefix(lineLength)
        }
        let all = [start[...]] + lines + [end[...]]
        return String(decoding: Array(all.joined(separator: [0x0a])) + [0x0a], as: UTF8.self)
    }

    /// ASCII's space, tab, line feed, vertical tab, form feed and carriage return.
    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    /// Empty if the digits are invalid.
    private static func decoded(base64 digits: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: digits.count)
        let count = unsafe Int(EVP_DecodeBlock(&bytes, digits, Int32(digits.count)))
        let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
        return Array(bytes.prefix(max(count - padding, 0)))
    }

    private static func base64(of bytes: [UInt8]) -> [UInt8] {
        // OpenSSL writes a zero after the last digit.
        var digits = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe Int(EVP_EncodeBlock(&digits, bytes, Int32(bytes.count)))
        return Array(digits.prefix(count))
    }
}
