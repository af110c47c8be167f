import CVaultOpenSSL
public import VaultBase

/// AES Key Wrap (RFC 3394, NIST SP 800-38F `KW`) with 256-bit wrapping keys: JWA's `A256KW`.
public enum AESKeyWrap {
    /// Bytes that wrapping adds.
    public static let overhead = 8

    /// Wraps a key of 16 or more bytes, a multiple of 8. `.key` for other sizes and for a wrapping key that is not
    /// of 32 bytes.
    public static func wrap(
        _ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        guard key.count >= 16, key.count.isMultiple(of: 8) else {
            throw VaultError(
                .key, "a key of \(key.count) bytes can't be wrapped", at: "AES key wrap",
                remedy: "use 16 or more bytes, a multiple of 8")
        }
        return try key.withBytes { key throws(VaultError) in
            try [UInt8](capacity: key.count + overhead) { output throws(VaultError) in
                try unsafe output.withUnsafeMutableBufferPointer { target, initialized throws(VaultError) in
                    guard try unsafe transform(key, under: wrappingKey, wrapping: true, to: target) else {
                        fatalError("OpenSSL failed at wrapping a key")
                    }
                    initialized = target.count
                }
            }
        }
    }

    /// Unwraps a key. `.key` when the wrapping key is wrong, or the bytes were changed.
    public static func unwrap(
        _ wrapped: Span<UInt8>, under wrappingKey: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        guard wrapped.count >= 24, wrapped.count.isMultiple(of: 8) else {
            throw VaultError(
                .key, "a wrapped key of \(wrapped.count) bytes", at: "AES key wrap",
                remedy: "use 24 or more bytes, a multiple of 8")
        }
        let key = SecretBytes(count: wrapped.count - overhead)
        let genuine = try key.withMutableBytes { key throws(VaultError) in
            try unsafe key.withUnsafeMutableBufferPointer { target throws(VaultError) in
                try unsafe transform(wrapped, under: wrappingKey, wrapping: false, to: target)
            }
        }
        guard genuine else {
            throw VaultError(
                .key, "the key does not unwrap", at: "AES key wrap",
                remedy: "use the key it was wrapped under")
        }
        return key
    }

    /// False if the integrity check fails.
    private static func transform(
        _ input: Span<UInt8>, under wrappingKey: borrowing SecretBytes, wrapping: Bool,
        to target: UnsafeMutableBufferPointer<UInt8>
    ) throws(VaultError) -> Bool {
        guard wrappingKey.count == 32 else {
            throw VaultError(
                .key, "a wrapping key of \(wrappingKey.count) bytes", at: "AES key wrap",
                remedy: "use one of 32 bytes")
        }
        guard let count = Int32(exactly: input.count) else { return false }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let prepared = wrappingKey.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe EVP_CipherInit_ex(
                    context, Algorithm.aes256Wrap.pointer, nil, key.baseAddress, nil, wrapping ? 1 : 0)
            }
        }
        require(prepared == 1, "AES key wrap")
        var written: Int32 = 0
        let succeeded = unsafe input.withUnsafeBufferPointer { input in
            unsafe EVP_CipherUpdate(context, target.baseAddress, &written, input.baseAddress, count)
        }
        if succeeded != 1 { ERR_clear_error() }
        return succeeded == 1 && Int(written) == target.count
    }
}
