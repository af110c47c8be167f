import CVaultOpenSSL
public import VaultBase

/// An Ed25519 private key (RFC 8032), on OpenSSL's secure heap if that is initialised.
@safe
public struct Ed25519PrivateKey: ~Copyable, @unchecked Sendable {
    let key: OpaquePointer
    public let publicKey: Ed25519PublicKey

    /// A fresh random key.
    public init() {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        unsafe require(EVP_PKEY_keygen_init(context) == 1, "making an Ed25519 key")
        unsafe require(EVP_PKEY_generate(context, &key) == 1, "making an Ed25519 key")
        guard let made = unsafe key.flatMap({ unsafe Ed25519PrivateKey(takingOwnershipOf: $0) }) else {
            fatalError("OpenSSL failed at making an Ed25519 key")
        }
        self = made
    }

    /// Nil, and the key is freed, unless it is an Ed25519 key.
    init?(takingOwnershipOf key: OpaquePointer) {
        guard let publicKey = unsafe Self.publicKey(of: key) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
        self.publicKey = publicKey
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The deterministic signature, 64 bytes.
    public func sign(_ message: Span<UInt8>) throws(VaultError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureLength)
        var count = signature.count
        let succeeded = unsafe message.withUnsafeBufferPointer { message in
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1
                && EVP_DigestSign(context, &signature, &count, message.baseAddress, message.count) == 1
        }
        guard succeeded, count == signature.count else {
            ERR_clear_error()
            throw VaultError(
                .key, "signing failed", at: "Ed25519 key", remedy: "check OpenSSL's installation")
        }
        return signature
    }

    private static func publicKey(of key: OpaquePointer) -> Ed25519PublicKey? {
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else { return nil }
        var raw = [UInt8](repeating: 0, count: Ed25519PublicKey.rawLength)
        var count = raw.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count else {
            return nil
        }
        return Ed25519PublicKey(raw: raw.span)
    }
}

/// Private keys as text: PKCS#8 (RFC 5958, RFC 8410) in PEM (RFC 7468), not encrypted.
extension Ed25519PrivateKey {
    /// `.key` unless the text contains an unencrypted Ed25519 key; never prompts for a passphrase.
    public init(pem: borrowing SecretBytes) throws(VaultError) {
        guard let block = PrivateKeyBlock(firstIn: pem), block.label == PEM_STRING_PKCS8INF,
            let made = unsafe Ed25519PrivateKey(consuming: block.decoded(with: d2i_PKCS8_PRIV_KEY_INFO))
        else {
            throw VaultError(
                .key, "no unencrypted Ed25519 private key in PKCS#8 PEM", at: "signing key",
                remedy: "give a file that begins with -----BEGIN PRIVATE KEY-----")
        }
        self = made
    }

    /// The key as PKCS#8 PEM, about 120 bytes.
    public func pem() throws(VaultError) -> SecretBytes {
        try PrivateKeyBlock(label: PEM_STRING_PKCS8INF, content: der()).text()
    }

    /// The key as PKCS#8 (RFC 8410, section 7), 48 bytes.
    ///
    /// `EVP_PKEY2PKCS8` would leave a copy of the key in memory that it frees.
    private func der() throws(VaultError) -> SecretBytes {
        try SecretBytes(capacity: Self.prefix.count + Self.seedLength) { (der) throws(VaultError) in
            for index in Self.prefix.indices { der[index] = Self.prefix[index] }
            var count = Self.seedLength
            let succeeded = unsafe der.withUnsafeMutableBufferPointer { der in
                guard let start = der.baseAddress else { return false }
                return unsafe EVP_PKEY_get_raw_private_key(key, start + Self.prefix.count, &count) == 1
            }
            guard succeeded, count == Self.seedLength else { throw Self.unwritable }
            return der.count
        }
    }

    /// All of the DER of an unencrypted key but its seed: version 0, the algorithm 1.3.101.112, and the octet string that contains one of
    /// 32 bytes.
    private static let prefix: [UInt8] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    private static let seedLength = 32

    /// Nil unless the `PKCS8_PRIV_KEY_INFO` contains an Ed25519 key; always wipes and frees it.
    ///
    /// `EVP_PKCS82PKEY` would leave a copy of the key in memory that it frees.
    init?(consuming info: OpaquePointer?) {
        defer {
            unsafe PKCS8_PRIV_KEY_INFO_free(info)
            ERR_clear_error()
        }
        var (name, start, count) = unsafe (nil as OpaquePointer?, nil as UnsafePointer<UInt8>?, Int32(0))
        guard let info = unsafe info, unsafe PKCS8_pkey_get0(&name, &start, &count, nil, info) == 1,
            unsafe OBJ_obj2nid(name) == NID_ED25519,
            let seed = unsafe Self.seed(in: UnsafeBufferPointer(start: start, count: Int(count))),
            let key = unsafe EVP_PKEY_new_raw_private_key(
                EVP_PKEY_ED25519, nil, seed.baseAddress, seed.count)
        else { return nil }
        unsafe self.init(takingOwnershipOf: key)
    }

    /// What a `CurvePrivateKey` (RFC 8410, section 7) contains: an octet string of 32 bytes, with its tag and length before it.
    private static func seed(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard bytes.count == 2 + seedLength, unsafe bytes.starts(with: prefix.suffix(2)) else { return nil }
        return unsafe UnsafeBufferPointer(rebasing: bytes[2...])
    }

    static var unwritable: VaultError {
        VaultError(
            .key, "the key can't be written as PEM", at: "signing key", remedy: "check OpenSSL's installation"
        )
    }
}

/// Private keys under a passphrase: encrypted PKCS#8 (RFC 5958) with PBES2 (RFC 8018) in PEM (RFC 7468).
///
/// A passphrase has at least one byte, of any value, without the line feed of a file. Trailing zeros of one shorter
/// than 64 bytes make no difference, as in every use of HMAC (RFC 2104).
extension Ed25519PrivateKey {
    /// True if the text's first private key is encrypted, even if its format is not supported.
    public static func isEncrypted(pem: borrowing SecretBytes) -> Bool {
        guard let block = PrivateKeyBlock(firstIn: pem) else { return false }
        return block.label == PEM_STRING_PKCS8
    }

    /// Opens a key with any cipher and derivation of PBES2 that OpenSSL offers.
    ///
    /// `.key` for an empty or wrong passphrase and for anything but an encrypted Ed25519 key; an unencrypted key is
    /// refused, as its user expects it to be protected. A wrong passphrase can't be distinguished from damaged bytes.
    /// The file determines the number of iterations.
    public init(pem: borrowing SecretBytes, passphrase: borrowing SecretBytes) throws(VaultError) {
        let passphraseLength = try Self.checkedLength(of: passphrase)
        guard let block = PrivateKeyBlock(firstIn: pem) else { throw Self.noEncryptedKey }
        guard block.label != PEM_STRING_PKCS8INF else {
            throw VaultError(
                .key, "the private key is not encrypted, though a passphrase was given", at: "signing key",
                remedy: "encrypt the key, or give no passphrase")
        }
        guard block.label == PEM_STRING_PKCS8, let sealed = unsafe block.decoded(with: d2i_X509_SIG) else {
            throw Self.noEncryptedKey
        }
        defer {
            unsafe X509_SIG_free(sealed)
            ERR_clear_error()
        }
        guard unsafe Self.isPBES2(sealed) else { throw Self.noEncryptedKey }
        ERR_clear_error()
        let info = unsafe passphrase.withCharacters { unsafe PKCS8_decrypt(sealed, $0, passphraseLength) }
        guard let info = unsafe info else {
            guard Self.isLastErrorAboutPlaintext else { throw Self.noEncryptedKey }
            throw VaultError(
                .key, "the passphrase does not open the private key", at: "signing key",
                remedy: "give the right passphrase, without a line feed at its end")
        }
        guard let made = unsafe Ed25519PrivateKey(consuming: info) else { throw Self.noEncryptedKey }
        self = made
    }

    /// The key as encrypted PKCS#8 PEM, about 400 bytes: AES-256-CBC under a key that PBKDF2 with HMAC-SHA-256 and
    /// 600,000 iterations makes from the passphrase and 16 random bytes. `.key` for an empty passphrase.
    public func pem(encryptedWith passphrase: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        let passphraseLength = try Self.checkedLength(of: passphrase)
        let block = try PrivateKeyBlock(label: PEM_STRING_PKCS8INF, content: der())
        let info = unsafe block.decoded(with: d2i_PKCS8_PRIV_KEY_INFO)
        let sealed = unsafe passphrase.withCharacters {
            unsafe PKCS8_encrypt(
                NID_hmacWithSHA256, Algorithm.aes256CBC.pointer, $0, passphraseLength, nil, 16, 600_000, info)
        }
        defer {
            unsafe X509_SIG_free(sealed)
            unsafe PKCS8_PRIV_KEY_INFO_free(info)
            ERR_clear_error()
        }
        guard unsafe info != nil, let sealed = unsafe sealed,
            let count = unsafe Int(exactly: i2d_X509_SIG(sealed, nil)), count > 0
        else { throw Self.unwritable }
        let content = try SecretBytes(capacity: count) { (der) throws(VaultError) in
            unsafe der.withUnsafeMutableBufferPointer { der in
                var position = der.baseAddress
                return unsafe Int(i2d_X509_SIG(sealed, &position))
            }
        }
        return PrivateKeyBlock(label: PEM_STRING_PKCS8, content: content).text()
    }

    private static func checkedLength(of passphrase: borrowing SecretBytes) throws(VaultError) -> Int32 {
        guard passphrase.count > 0, let count = Int32(exactly: passphrase.count) else {
            throw VaultError(
                .key, "the passphrase is \(passphrase.count == 0 ? "empty" : "too long")", at: "signing key",
                remedy: "give a passphrase, or leave the key unencrypted")
        }
        return count
    }

    /// Older encryption of PKCS#8 is weak, and partly disabled in OpenSSL.
    private static func isPBES2(_ sealed: OpaquePointer) -> Bool {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(sealed, &algorithm, nil)
        var name: OpaquePointer?
        unsafe X509_ALGOR_get0(&name, nil, nil, algorithm)
        return unsafe OBJ_obj2nid(name) == NID_pbes2
    }

    /// True if decryption gave invalid bytes; false if OpenSSL does not support the algorithm.
    private static var isLastErrorAboutPlaintext: Bool {
        let error = ERR_peek_last_error()
        return ERR_GET_LIB(error) == ERR_LIB_PKCS12
            && [PKCS12_R_PKCS12_CIPHERFINAL_ERROR, PKCS12_R_DECODE_ERROR].contains(ERR_GET_REASON(error))
    }

    private static var noEncryptedKey: VaultError {
        VaultError(
            .key, "no encrypted Ed25519 private key in PKCS#8 PEM with PBES2", at: "signing key",
            remedy: "give a file that begins with -----BEGIN ENCRYPTED PRIVATE KEY-----")
    }
}

extension SecretBytes {
    /// Lends the bytes as C's characters, without a zero at their end.
    fileprivate func withCharacters(_ body: (UnsafePointer<CChar>?) -> OpaquePointer?) -> OpaquePointer? {
        unsafe withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe body($0.assumingMemoryBound(to: CChar.self).baseAddress) }
        }
    }
}
