public import VaultErrors

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
