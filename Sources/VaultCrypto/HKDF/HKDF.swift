public import VaultErrors

/// HKDF (RFC 5869), only its second step: the input keys are uniformly random already.
public enum HKDF {
    /// HKDF-Expand with SHA-512 (RFC 5869, section 2.3).
    ///
    /// Built on HMAC, because OpenSSL 3.0's own takes at most 1,024 bytes of `info`.
    /// - Parameter count: bytes to make, at most 255 times 64; more is `.usage`.
    public static func expandSHA512(
        _ inputKey: borrowing SecretBytes, info: Span<UInt8>, count: Int
    ) throws(VaultError) -> SecretBytes {
        let blockCount = 64
        guard count >= 0, count <= 255 * blockCount else {
            throw VaultError(
                .usage, "\(count) bytes can't be derived from one key", at: "HKDF-Expand",
                remedy: "ask for at most 16,320")
        }
        let blocks = (count + blockCount - 1) / blockCount
        var hmac = HMAC(.hmacSHA512, key: inputKey)
        let output = SecretBytes(count: blocks * blockCount)
        output.withMutableBytes { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                for block in 0..<blocks {
                    let start = block * blockCount
                    // T(n) = HMAC(key, T(n - 1) || info || n), T(0) empty.
                    if block > 0 { unsafe hmac.update(output.extracting(start - blockCount..<start).span) }
                    hmac.update(info)
                    hmac.update([UInt8(block + 1)].span)
                    unsafe hmac.finalize(into: output.extracting(start..<start + blockCount))
                }
            }
        }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}
