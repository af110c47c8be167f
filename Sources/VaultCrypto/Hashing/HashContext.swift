import CVaultOpenSSL

/// A hash of a message in parts; after `finalize(into:)` it begins the next message.
@safe
struct HashContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    private let algorithm: Algorithm

    /// - Parameter algorithm: `sha256` or `sha512`.
    init(_ algorithm: Algorithm) {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        unsafe self.context = context
        self.algorithm = algorithm
        begin()
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "hashing")
        }
    }

    /// Writes the digest, 32 or 64 bytes.
    mutating func finalize(into target: UnsafeMutablePointer<UInt8>) {
        unsafe require(EVP_DigestFinal_ex(context, target, nil) == 1, "hashing")
        begin()
    }

    private func begin() {
        unsafe require(EVP_DigestInit_ex2(context, algorithm.pointer, nil) == 1, "hashing")
    }
}
