import CVaultOpenSSL

/// HMAC (RFC 2104) with one key over many messages.
@safe
struct HMAC: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    /// - Parameter algorithm: `hmacSHA256` or `hmacSHA512`.
    init(_ algorithm: Algorithm, key: borrowing SecretBytes) {
        guard let context = unsafe EVP_MAC_CTX_dup(algorithm.pointer) else { fatalError("out of memory") }
        unsafe self.context = context
        key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe require(EVP_MAC_init(context, key.baseAddress, key.count, nil) == 1, "HMAC")
            }
        }
    }

    deinit {
        // Wipes the states derived from the key.
        unsafe EVP_MAC_CTX_free(context)
    }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe require(EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1, "HMAC")
        }
    }

    /// Writes the tag and begins the next message under the same key.
    mutating func finalize(into target: UnsafeMutableBufferPointer<UInt8>) {
        var written = 0
        unsafe require(EVP_MAC_final(context, target.baseAddress, &written, target.count) == 1, "HMAC")
        unsafe require(EVP_MAC_init(context, nil, 0, nil) == 1, "HMAC")
    }
}
