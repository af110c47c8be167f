import CVaultOpenSSL

/// A PEM block (RFC 7468) of a private key of any kind: its label and decoded DER.
struct PrivateKeyBlock: ~Copyable {
    /// One of OpenSSL's `PEM_STRING_` names, which tells the kind of key and whether it is encrypted.
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
