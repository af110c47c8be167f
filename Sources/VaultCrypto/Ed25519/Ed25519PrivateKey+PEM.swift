import CVaultOpenSSL
public import VaultErrors

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
