import CVaultOpenSSL

/// A public key as OpenSSL holds it, made where it is needed and not kept.
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

    /// Nil unless OpenSSL takes the 32 bytes.
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

    /// What the key is for; nil if that is not supported.
    var scheme: VerifyingKey.Scheme? {
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_ED25519: .ed25519
        case EVP_PKEY_EC: isNamedP256 ? .ecdsaP256SHA256 : nil
        case EVP_PKEY_RSA: unsafe (2_048...16_384).contains(EVP_PKEY_get_bits(key)) ? .rsaPSSSHA256 : nil
        default: nil
        }
    }

    /// RFC 5480 forbids to spell the curve out, so such a key is refused even when the curve is P-256.
    private var isNamedP256: Bool {
        defer { ERR_clear_error() }
        var name = [CChar](repeating: 0, count: 32)
        var spelledOut: Int32 = 1
        return unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1
            && OBJ_sn2nid(name) == NID_X9_62_prime256v1
            && EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &spelledOut) == 1
            && spelledOut == 0
    }

    /// Bytes of header and uncompressed point; the point at infinity, which OpenSSL reads as a key, has fewer.
    private static let encodedP256Count = 26 + 65

    /// The one SubjectPublicKeyInfo in DER that a supported key has, with uncompressed points (RFC 5480).
    func encoded() -> [UInt8]? {
        defer { ERR_clear_error() }
        if scheme == .ecdsaP256SHA256 {
            // OpenSSL would write a point in the form that it was read in.
            let form = OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT
            guard unsafe EVP_PKEY_set_utf8_string_param(key, form, "uncompressed") == 1 else { return nil }
        }
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(key, &start)
        defer { unsafe CRYPTO_free(start, #fileID, 0) }
        guard count > 0, scheme != .ecdsaP256SHA256 || count == Self.encodedP256Count else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// True only for a signature of the scheme over exactly this message.
    func isValid(signature: Span<UInt8>, for message: Span<UInt8>, scheme: VerifyingKey.Scheme) -> Bool {
        defer { ERR_clear_error() }
        // OpenSSL itself takes RSA signatures whose leading zeros are missing. A signature in DER has no fixed size.
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
