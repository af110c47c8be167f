import CVaultOpenSSL

/// One block of a PEM text (RFC 7468): its label and the bytes that base64 stands for.
struct PEMBlock: ~Copyable {
    let label: String
    /// DER; secret, because it may be a private key.
    let content: SecretBytes

    init(_ label: String, content: consuming SecretBytes) {
        self.label = label
        self.content = content
    }

    /// The text's first block of a kind, one of OpenSSL's `PEM_STRING_` names; nil if there is none. What stands
    /// around the block is skipped, and a block with headers of its own encryption (RFC 1421) is refused.
    init?(first kind: String, in text: Span<UInt8>) {
        defer { ERR_clear_error() }
        var found: UnsafeMutablePointer<CChar>?
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        let succeeded = unsafe text.withUnsafeBufferPointer { text in
            guard let count32 = Int32(exactly: text.count),
                let source = unsafe BIO_new_mem_buf(text.baseAddress, count32)
            else { return false }
            defer { unsafe BIO_free(source) }
            // Without the function OpenSSL would ask for a passphrase on the terminal.
            return unsafe PEM_bytes_read_bio_secmem(
                &start, &count, &found, kind, source, { _, _, _, _ in -1 }, nil) == 1
        }
        guard succeeded, let found = unsafe found, let start = unsafe start else { return nil }
        label = unsafe String(cString: found)
        content = unsafe SecretBytes(copying: UnsafeBufferPointer(start: start, count: count).span)
        unsafe CRYPTO_secure_free(found, #fileID, 0)
        unsafe CRYPTO_secure_clear_free(start, count, #fileID, 0)
    }

    /// The block as text, in lines of 64 characters.
    var text: SecretBytes? {
        unsafe SecretBytes { text in
            content.withBytes { content in
                unsafe content.withUnsafeBufferPointer { content in
                    unsafe PEM_write_bio(text, label, "", content.baseAddress, content.count) > 0
                }
            }
        }
    }
}

extension SecretBytes {
    /// A text that OpenSSL writes into a BIO on the secure heap, which wipes its bytes; nil if it fails.
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
