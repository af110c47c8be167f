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
        let text = unsafe SecretBytes { text in
            unsafe PEM_write_bio_PKCS8PrivateKey(text, key, nil, nil, 0, nil, nil) == 1
        }
        guard let text else { throw Self.unwritable }
        return text
    }

    /// Nil unless the `PKCS8_PRIV_KEY_INFO` contains an Ed25519 key; always wipes and frees it.
    init?(consuming info: OpaquePointer?) {
        defer {
            unsafe PKCS8_PRIV_KEY_INFO_free(info)
            ERR_clear_error()
        }
        guard let info = unsafe info, let key = unsafe EVP_PKCS82PKEY(info) else { return nil }
        unsafe self.init(takingOwnershipOf: key)
    }

    static var unwritable: VaultError {
        VaultError(
            .key, "the key can't be written as PEM", at: "signing key", remedy: "check OpenSSL's installation"
        )
    }
}

extension SecretBytes {
    /// The text that OpenSSL writes into a BIO on the secure heap; nil if it fails.
    init?(writtenBy write: (OpaquePointer) -> Bool) {
        defer { ERR_clear_error() }
        guard let text = unsafe BIO_new(BIO_s_secmem()) else { return nil }
        defer { unsafe BIO_free(text) }
        guard unsafe write(text) else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe vault_bio_bytes(text, &start)
        self = unsafe UnsafeRawBufferPointer(start: start, count: count).withMemoryRebound(to: UInt8.self) {
            unsafe SecretBytes(copying: $0.span)
        }
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
        let info = unsafe EVP_PKEY2PKCS8(key)
        let sealed = unsafe passphrase.withCharacters {
            unsafe PKCS8_encrypt(
                NID_hmacWithSHA256, Algorithm.aes256CBC.pointer, $0, passphraseLength, nil, 16, 600_000, info)
        }
        defer {
            unsafe X509_SIG_free(sealed)
            unsafe PKCS8_PRIV_KEY_INFO_free(info)
            ERR_clear_error()
        }
        guard let sealed = unsafe sealed,
            let text = unsafe SecretBytes(writtenBy: { unsafe PEM_write_bio_PKCS8($0, sealed) == 1 })
        else { throw Self.unwritable }
        return text
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

/// A PEM block (RFC 7468) of a private key of any kind: its label and decoded DER.
struct PrivateKeyBlock: ~Copyable {
    /// One of OpenSSL's `PEM_STRING_` names, which gives the kind of key and whether it is encrypted.
    let label: String
    private let content: SecretBytes

    /// The text's first private key; nil if there is none. Other text is skipped, and a key with headers of PEM's own
    /// encryption (RFC 1421) is refused.
    init?(firstIn text: borrowing SecretBytes) {
        defer { ERR_clear_error() }
        var label: UnsafeMutablePointer<CChar>?
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        let found = text.withBytes { text in
            unsafe text.withUnsafeBufferPointer { text in
                guard let textLength = Int32(exactly: text.count),
                    let source = unsafe BIO_new_mem_buf(text.baseAddress, textLength)
                else { return false }
                defer { unsafe BIO_free(source) }
                // Without the callback OpenSSL would prompt for a passphrase on the terminal.
                return unsafe PEM_bytes_read_bio_secmem(
                    &start, &count, &label, PEM_STRING_EVP_PKEY, source, { _, _, _, _ in -1 }, nil) == 1
            }
        }
        guard found, let label = unsafe label, let start = unsafe start else { return nil }
        self.label = unsafe String(cString: label)
        content = unsafe SecretBytes(copying: UnsafeBufferPointer(start: start, count: count).span)
        unsafe CRYPTO_secure_free(label, #fileID, 0)
        unsafe CRYPTO_secure_clear_free(start, count, #fileID, 0)
    }

    /// The result of one of OpenSSL's `d2i_` functions, to be freed by the caller; nil if it fails.
    func decoded(
        with decode: (
            UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> OpaquePointer?
    ) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return unsafe content.withBytes { content in
            unsafe content.withUnsafeBufferPointer { content in
                var position = content.baseAddress
                return unsafe decode(nil, &position, content.count)
            }
        }
    }
}
