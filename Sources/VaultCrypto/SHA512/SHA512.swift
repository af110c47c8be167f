/// SHA-512 (FIPS 180-4).
public enum SHA512 {
    public static func hash(_ message: Span<UInt8>) -> SHA512Digest {
        var context = HashContext(.sha512)
        context.update(message)
        return unsafe SHA512Digest { target in unsafe context.finalize(into: target) }
    }
}

/// A SHA-512 digest: 64 bytes, stored inline.
public struct SHA512Digest: Sendable, Hashable {
    /// The two halves. Each is stored inline, so together they are 64 adjacent bytes, which OpenSSL writes at once.
    private var first, last: SHA256Digest

    /// Nil unless the text is exactly 128 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard let first = SHA256Digest(hex: String(hex.prefix(2 * SHA256Digest.count))),
            let last = SHA256Digest(hex: String(hex.dropFirst(2 * SHA256Digest.count)))
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Lets OpenSSL write the 64 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        (first, last) = unsafe (SHA256Digest { _ in }, SHA256Digest { _ in })
        unsafe withUnsafeMutableBytes(of: &self) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] { first.bytes + last.bytes }

    /// 128 lowercase hexadecimal digits.
    public var hex: String { first.hex + last.hex }
}
