import CVaultOpenSSL
public import VaultErrors

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
