import CVaultOpenSSL

/// An Ed25519 public key (RFC 8032): 32 bytes, not secret.
public struct Ed25519PublicKey: Hashable, Sendable {
    public static let rawCount = 32
    public static let signatureCount = 64

    public let raw: [UInt8]

    /// Nil unless there are exactly 32 bytes. Whether they are a point of the curve shows at verification.
    public init?(raw: Span<UInt8>) {
        guard raw.count == Self.rawCount else { return nil }
        self.raw = raw.indices.map { raw[$0] }
    }

    /// True only for a signature of exactly 64 bytes that this key's owner made over exactly this message.
    public func isValid(signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        guard signature.count == Self.signatureCount else { return false }
        let key = unsafe raw.withUnsafeBufferPointer { raw in
            unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw.baseAddress, raw.count)
        }
        defer {
            unsafe EVP_PKEY_free(key)
            ERR_clear_error()
        }
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }
}
