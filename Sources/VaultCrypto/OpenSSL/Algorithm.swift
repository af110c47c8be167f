import CVaultOpenSSL

/// An algorithm of OpenSSL, fetched once, as an implicit fetch at each use costs more than hashing a short message.
@safe
struct Algorithm: @unchecked Sendable {
    /// An `EVP_MD`, an `EVP_CIPHER` or a keyless `EVP_MAC_CTX`; never changed, never freed.
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?, _ name: StaticString) {
        guard let pointer = unsafe pointer else {
            fatalError("OpenSSL's configuration on this machine offers no \(name)")
        }
        unsafe self.pointer = pointer
    }

    static let sha256 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA256", nil), "SHA-256")
    static let sha512 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA512", nil), "SHA-512")
    static let aes256CBC = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-256-CBC", nil), "AES-256-CBC")
    static let aes256GCM = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "AES-256-GCM")
    static let aes256Wrap = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil), "AES-256-WRAP")
    static let hmacSHA256 = unsafe Algorithm(vault_hmac_new("SHA256"), "HMAC-SHA-256")
    static let hmacSHA512 = unsafe Algorithm(vault_hmac_new("SHA512"), "HMAC-SHA-512")
}

/// Ends the process when OpenSSL fails and only lack of memory or a broken installation can be the cause.
func require(_ succeeded: Bool, _ operation: StaticString) {
    guard succeeded else { fatalError("OpenSSL failed at \(operation): out of memory or badly installed") }
}
