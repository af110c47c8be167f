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
        try requireLength(of: wrappingKey)
        return key.withBytes { key in
            [UInt8](capacity: key.count + overhead) { output in
                unsafe output.withUnsafeMutableBufferPointer { target, initialized in
                    guard unsafe transform(key, under: wrappingKey, wrapping: true, to: target) else {
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
        guard isWrapped(wrapped.count) else {
            throw VaultError(
                .key, "a wrapped key of \(wrapped.count) bytes", at: "AES key wrap",
                remedy: "use 24 or more bytes, a multiple of 8")
        }
        try requireLength(of: wrappingKey)
        guard let key = unwrap(wrapped, underAnySize: wrappingKey) else {
            throw VaultError(
                .key, "the key does not unwrap", at: "AES key wrap",
                remedy: "use the key it was wrapped under")
        }
        return key
    }

    /// Unwraps under 16, 24 or 32 bytes (`A128KW`, `A192KW`, `A256KW`); nil when the wrapping key is wrong, or the bytes were changed.
    static func unwrap(_ wrapped: Span<UInt8>, underAnySize wrappingKey: borrowing SecretBytes)
        -> SecretBytes?
    {
        guard isWrapped(wrapped.count) else { return nil }
        let key = SecretBytes(count: wrapped.count - overhead)
        let genuine = key.withMutableBytes { key in
            unsafe key.withUnsafeMutableBufferPointer { target in
                unsafe transform(wrapped, under: wrappingKey, wrapping: false, to: target)
            }
        }
        guard genuine else { return nil }
        return key
    }

    private static func isWrapped(_ count: Int) -> Bool { count >= 24 && count.isMultiple(of: 8) }

    private static func requireLength(of wrappingKey: borrowing SecretBytes) throws(VaultError) {
        guard wrappingKey.count == 32 else {
            throw VaultError(
                .key, "a wrapping key of \(wrappingKey.count) bytes", at: "AES key wrap",
                remedy: "use one of 32 bytes")
        }
    }

    /// False if the integrity check fails.
    private static func transform(
        _ input: Span<UInt8>, under wrappingKey: borrowing SecretBytes, wrapping: Bool,
        to target: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let cipher: Algorithm
        switch wrappingKey.count {
        case 16: cipher = .aes128Wrap
        case 24: cipher = .aes192Wrap
        case 32: cipher = .aes256Wrap
        default: return false
        }
        guard let count = Int32(exactly: input.count) else { return false }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let prepared = wrappingKey.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe EVP_CipherInit_ex(
                    context, cipher.pointer, nil, key.baseAddress, nil, wrapping ? 1 : 0)
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
