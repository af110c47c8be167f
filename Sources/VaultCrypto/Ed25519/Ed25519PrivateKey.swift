import CVaultOpenSSL
public import VaultErrors

/// An Ed25519 private key (RFC 8032), on OpenSSL's secure heap if that is initialised.
@safe
public struct Ed25519PrivateKey: ~Copyable, @unchecked Sendable {
    let key: OpaquePointer
    public let publicKey: Ed25519PublicKey

    /// A fresh random key.
    public init() {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        unsafe require(EVP_PKEY_keygen_init(context) == 1, "making an Ed25519 key")
        unsafe require(EVP_PKEY_generate(context, &key) == 1, "making an Ed25519 key")
        guard let made = unsafe key.flatMap({ unsafe Ed25519PrivateKey(takingOwnershipOf: $0) }) else {
            fatalError("OpenSSL failed at making an Ed25519 key")
        }
        self = made
    }

    /// Nil, and the key is freed, unless it is an Ed25519 key.
    init?(takingOwnershipOf key: OpaquePointer) {
        guard let publicKey = unsafe Self.publicKey(of: key) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
        self.publicKey = publicKey
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The deterministic signature, 64 bytes.
    public func sign(_ message: Span<UInt8>) throws(VaultError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureLength)
        var count = signature.count
        let succeeded = unsafe message.withUnsafeBufferPointer { message in
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1
                && EVP_DigestSign(context, &signature, &count, message.baseAddress, message.count) == 1
        }
        guard succeeded, count == signature.count else {
            ERR_clear_error()
            throw VaultError(
                .key, "signing failed", at: "Ed25519 key", remedy: "check OpenSSL's installation")
        }
        return signature
    }

    private static func publicKey(of key: OpaquePointer) -> Ed25519PublicKey? {
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else { return nil }
        var raw = [UInt8](repeating: 0, count: Ed25519PublicKey.rawLength)
        var count = raw.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count else {
            return nil
        }
        return Ed25519PublicKey(raw: raw.span)
    }
}
