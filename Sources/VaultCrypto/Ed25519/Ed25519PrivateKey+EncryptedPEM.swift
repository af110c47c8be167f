import CVaultOpenSSL
public import VaultErrors

/// Private keys under a passphrase: encrypted PKCS#8 (RFC 5958) with PBES2 (RFC 8018) in PEM (RFC 7468).
///
/// A passphrase is bytes of any value, at least one; whoever reads it from a file drops the line feed at its end.
/// Zeros at the end of one shorter than 64 bytes make no difference, as in every use of HMAC (RFC 2104).
extension Ed25519PrivateKey {
    /// True if the text's first private key needs a passphrase, whether or not it is one that can be read here.
    public static func isEncrypted(pem: borrowing SecretBytes) -> Bool {
        guard let block = PrivateKeyBlock(firstIn: pem) else { return false }
        return block.label == PEM_STRING_PKCS8
    }

    /// Opens a key with any cipher and derivation of PBES2 that OpenSSL offers.
    ///
    /// `.key` for an empty or wrong passphrase, for anything but an encrypted Ed25519 key, and for a key that is not
    /// encrypted: who gives a passphrase believes that the file is worthless without it. A wrong passphrase can't be
    /// told from damage to the encrypted bytes. It takes as many iterations as the file asks for.
    public init(pem: borrowing SecretBytes, passphrase: borrowing SecretBytes) throws(VaultError) {
        let passphraseCount = try Self.checkedCount(of: passphrase)
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
        let info = unsafe passphrase.withCharacters { unsafe PKCS8_decrypt(sealed, $0, passphraseCount) }
        guard let info = unsafe info else {
            guard Self.lastErrorIsAboutThePlaintext else { throw Self.noEncryptedKey }
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
        let passphraseCount = try Self.checkedCount(of: passphrase)
        let info = unsafe EVP_PKEY2PKCS8(key)
        let sealed = unsafe passphrase.withCharacters {
            unsafe PKCS8_encrypt(
                NID_hmacWithSHA256, Algorithm.aes256CBC.pointer, $0, passphraseCount, nil, 16, 600_000, info)
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

    private static func checkedCount(of passphrase: borrowing SecretBytes) throws(VaultError) -> Int32 {
        guard passphrase.count > 0, let count = Int32(exactly: passphrase.count) else {
            throw VaultError(
                .key, "the passphrase is \(passphrase.count == 0 ? "empty" : "too long")", at: "signing key",
                remedy: "give a passphrase, or leave the key unencrypted")
        }
        return count
    }

    /// The older ways to encrypt PKCS#8 are weak, and some are switched off in OpenSSL.
    private static func isPBES2(_ sealed: OpaquePointer) -> Bool {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(sealed, &algorithm, nil)
        var name: OpaquePointer?
        unsafe X509_ALGOR_get0(&name, nil, nil, algorithm)
        return unsafe OBJ_obj2nid(name) == NID_pbes2
    }

    /// True if decrypting failed for bytes that make no sense, rather than for an algorithm that OpenSSL lacks.
    private static var lastErrorIsAboutThePlaintext: Bool {
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
