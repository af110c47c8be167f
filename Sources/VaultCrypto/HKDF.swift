import CVaultOpenSSL
public import VaultBase

/// HKDF (RFC 5869) without its extract step, as the input keys are uniformly random.
public enum HKDF {
    /// HKDF-Expand with SHA-512 (RFC 5869, section 2.3).
    /// - Parameter count: bytes to derive, at most 255 times 64; more is `.usage`.
    public static func expandSHA512(
        _ inputKey: borrowing SecretBytes, info: Span<UInt8>, count: Int
    ) throws(VaultError) -> SecretBytes {
        try expand(inputKey, with: .sha512, info: info, count: count)
    }

    package enum Hash: Sendable {
        /// Only for C2SP's older test vectors.
        case sha256
        case sha512

        var count: Int { self == .sha256 ? 32 : 64 }
        var hmac: Algorithm { self == .sha256 ? .hmacSHA256 : .hmacSHA512 }
    }

    /// Built on HMAC, because OpenSSL 3.0's own HKDF takes at most 1,024 bytes of `info`.
    static func expand(
        _ inputKey: borrowing SecretBytes, with hash: Hash, info: Span<UInt8>, count: Int
    ) throws(VaultError) -> SecretBytes {
        guard count >= 0, count <= 255 * hash.count else {
            throw VaultError(
                .usage, "\(count) bytes can't be derived from one key", at: "HKDF-Expand",
                remedy: "ask for at most \(255 * hash.count)")
        }
        let blocks = (count + hash.count - 1) / hash.count
        var hmac = HMAC(hash.hmac, key: inputKey)
        let output = SecretBytes(count: blocks * hash.count)
        output.withMutableBytes { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                for block in 0..<blocks {
                    let start = block * hash.count
                    // T(n) = HMAC(key, T(n - 1) || info || n), T(0) empty.
                    if block > 0 { unsafe hmac.update(output.extracting(start - hash.count..<start).span) }
                    hmac.update(info)
                    hmac.update(CollectionOfOne(UInt8(block + 1)).span)
                    unsafe hmac.finalize(into: output.extracting(start..<start + hash.count))
                }
            }
        }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1) with one key over many messages.
///
/// The key's state is on OpenSSL's ordinary heap while this value exists, so keep it only as long as needed.
public struct HMACSHA256: ~Copyable, Sendable {
    private var hmac: HMAC

    public init(key: borrowing SecretBytes) {
        hmac = HMAC(.hmacSHA256, key: key)
    }

    /// The tag of one whole message.
    public mutating func authenticate(_ message: Span<UInt8>) -> SHA256Digest {
        hmac.update(message)
        return unsafe SHA256Digest { target in
            unsafe hmac.finalize(into: UnsafeMutableBufferPointer(start: target, count: SHA256Digest.count))
        }
    }
}

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
