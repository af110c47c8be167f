import CVaultOpenSSL
public import VaultErrors

/// Private keys as text: PKCS#8 (RFC 5958, RFC 8410) in PEM (RFC 7468), not encrypted.
extension Ed25519PrivateKey {
    /// `.key` unless the text holds an unencrypted Ed25519 key; a passphrase is never asked for.
    public init(pem: borrowing SecretBytes) throws(VaultError) {
        let key = unsafe pem.withBytes { pem in
            unsafe pem.withUnsafeBufferPointer { pem -> OpaquePointer? in
                guard let count = Int32(exactly: pem.count),
                    let text = unsafe BIO_new_mem_buf(pem.baseAddress, count)
                else { return nil }
                defer { unsafe BIO_free(text) }
                // Without this function OpenSSL would ask on the terminal.
                return unsafe PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in -1 }, nil)
            }
        }
        ERR_clear_error()
        guard let key = unsafe key, let made = unsafe Ed25519PrivateKey(takingOwnershipOf: key) else {
            throw VaultError(
                .key, "no unencrypted Ed25519 private key in PKCS#8 PEM", at: "signing key",
                remedy: "give a file that begins with -----BEGIN PRIVATE KEY-----")
        }
        self = made
    }

    /// The key as PKCS#8 PEM, about 120 bytes.
    public func pem() throws(VaultError) -> SecretBytes {
        // A BIO on the secure heap, which wipes its bytes.
        let text = unsafe BIO_new(BIO_s_secmem())
        defer { unsafe BIO_free(text) }
        var start: UnsafeMutablePointer<CChar>?
        guard unsafe PEM_write_bio_PKCS8PrivateKey(text, key, nil, nil, 0, nil, nil) == 1 else {
            ERR_clear_error()
            throw VaultError(
                .key, "the key can't be written as PEM", at: "signing key",
                remedy: "check OpenSSL's installation")
        }
        let count = unsafe vault_bio_bytes(text, &start)
        return unsafe UnsafeRawBufferPointer(start: start, count: count).withMemoryRebound(to: UInt8.self) {
            unsafe SecretBytes(copying: $0.span)
        }
    }
}
