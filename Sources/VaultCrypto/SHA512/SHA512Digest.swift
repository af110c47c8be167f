/// SHA-512 (FIPS 180-4).
public enum SHA512 {
    public static func hash(_ message: Span<UInt8>) -> SHA512Digest {
        var context = HashContext(.sha512)
        context.update(message)
        return unsafe SHA512Digest { target in unsafe context.finalize(into: target) }
    }
}

/// A SHA-512 digest: 64 bytes, stored inline. Comparison takes constant time.
public struct SHA512Digest: Sendable {
    public static let count = 2 * SHA256Digest.count

    /// The first and the last 32 bytes, adjacent in memory.
    private var halves: (SHA256Digest, SHA256Digest)

    /// Nil unless there are exactly 64 bytes.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count,
            let first = SHA256Digest(bytes.extracting(first: SHA256Digest.count)),
            let last = SHA256Digest(bytes.extracting(last: SHA256Digest.count))
        else { return nil }
        halves = (first, last)
    }

    /// Nil unless the text is exactly 128 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard let first = SHA256Digest(hex: String(hex.prefix(2 * SHA256Digest.count))),
            let last = SHA256Digest(hex: String(hex.dropFirst(2 * SHA256Digest.count)))
        else { return nil }
        halves = (first, last)
    }

    /// Lets OpenSSL write the 64 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        halves = unsafe (SHA256Digest { _ in }, SHA256Digest { _ in })
        unsafe withUnsafeMutableBytes(of: &halves) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] { halves.0.bytes + halves.1.bytes }

    /// 128 lowercase hexadecimal digits.
    public var hex: String { halves.0.hex + halves.1.hex }
}

extension SHA512Digest: Hashable {
    public static func == (a: SHA512Digest, b: SHA512Digest) -> Bool {
        // Always compares both halves, for constant time.
        let equal = [a.halves.0 == b.halves.0, a.halves.1 == b.halves.1]
        return !equal.contains(false)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(halves.0)
        hasher.combine(halves.1)
    }
}

extension SHA512Digest: CustomStringConvertible {
    public var description: String { hex }
}
