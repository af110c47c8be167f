import CVaultOpenSSL

/// A temporary OpenSSL object of a public key.
@safe
struct PublicKeyHandle: ~Copyable {
    private let key: OpaquePointer

    /// Nil unless the bytes are one SubjectPublicKeyInfo (RFC 5280) and nothing else, of any kind that OpenSSL knows.
    init?(der: Span<UInt8>) {
        defer { ERR_clear_error() }
        let key = unsafe der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var position = der.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &position, der.count)
            if unsafe position == der.baseAddress.map({ unsafe $0 + der.count }) { return unsafe key }
            unsafe EVP_PKEY_free(key)
            return nil
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    /// Nil unless OpenSSL accepts the 32 bytes.
    init?(ed25519 raw: Span<UInt8>) {
        defer { ERR_clear_error() }
        let key = unsafe raw.withUnsafeBufferPointer { raw in
            unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw.baseAddress, raw.count)
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// The key's scheme and its normalised SubjectPublicKeyInfo in DER; nil for an unsupported kind of key.
    func normalised() -> (scheme: VerifyingKey.Scheme, encoded: [UInt8])? {
        defer { ERR_clear_error() }
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_ED25519:
            return encoded().map { (.ed25519, $0) }
        case EVP_PKEY_EC:
            // By default OpenSSL writes a point in the form in which it was read.
            let form = OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT
            guard unsafe EVP_PKEY_set_utf8_string_param(key, form, "uncompressed") == 1,
                let encoded = encoded(), encoded.starts(with: Self.p256Header)
            else { return nil }
            return (.ecdsaP256SHA256, encoded)
        case EVP_PKEY_RSA:
            guard unsafe (2_048...16_384).contains(EVP_PKEY_get_bits(key)) else { return nil }
            return encoded().map { (.rsaPSSSHA256, $0) }
        default:
            return nil
        }
    }

    /// The DER before the 64 bytes of an uncompressed point on the named curve P-256 (RFC 5480). Other curves, explicit
    /// curve parameters and the point at infinity have another encoding.
    private static let p256Header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
        0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    private func encoded() -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(key, &start)
        defer { unsafe CRYPTO_free(start, #fileID, 0) }
        guard count > 0 else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// True only for a signature of the scheme over exactly this message.
    func isValid(signature: Span<UInt8>, for message: Span<UInt8>, scheme: VerifyingKey.Scheme) -> Bool {
        defer { ERR_clear_error() }
        // OpenSSL accepts RSA signatures without their leading zeros. A signature in DER has no fixed size.
        let size = unsafe Int(EVP_PKEY_get_size(key))
        guard scheme == .ecdsaP256SHA256 ? signature.count <= size : signature.count == size,
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = unsafe scheme == .ed25519 ? nil : Algorithm.sha256.pointer
        var parameters: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &parameters, digest, nil, key) == 1 else { return false }
        if scheme == .rsaPSSSHA256 {
            guard unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_mgf1_md(parameters, digest) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_AUTO) == 1
            else { return false }
        }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }
}
