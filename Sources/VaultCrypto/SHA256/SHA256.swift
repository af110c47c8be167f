import CVaultOpenSSL

/// SHA-256 (FIPS 180-4) over a message that arrives in parts; after `finalize()` it begins the next message.
@safe
public struct SHA256: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    public init() {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        unsafe self.context = context
        begin()
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    public mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "SHA-256")
        }
    }

    /// The digest of what was added since the start or the last call.
    public mutating func finalize() -> Digest {
        let digest = unsafe Digest { target in
            unsafe require(EVP_DigestFinal_ex(context, target, nil) == 1, "SHA-256")
        }
        begin()
        return digest
    }

    public static func hash(_ message: Span<UInt8>) -> Digest {
        var hash = SHA256()
        hash.update(message)
        return hash.finalize()
    }

    private func begin() {
        unsafe require(EVP_DigestInit_ex2(context, Algorithm.sha256.pointer, nil) == 1, "SHA-256")
    }
}
