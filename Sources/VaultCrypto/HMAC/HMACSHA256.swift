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
