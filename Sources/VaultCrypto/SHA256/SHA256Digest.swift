import VaultBytes

/// A SHA-256 digest or an HMAC-SHA-256 tag: 32 bytes, stored inline.
///
/// Comparison takes constant time, so tags can be compared directly.
public struct SHA256Digest: Sendable {
    public static let count = 32

    /// The bytes in their order in memory, whatever the machine's endianness.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Nil unless there are exactly 32 bytes.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        unsafe withUnsafeMutableBytes(of: &words) { target in
            for index in 0..<Self.count { unsafe target[index] = bytes[index] }
        }
    }

    /// Nil unless the text is exactly 64 lowercase hexadecimal digits.
    public init?(hex: String) {
        guard !hex.utf8.contains(where: { $0 < UInt8(ascii: "a") && $0 > UInt8(ascii: "9") }),
            let bytes = Hexadecimal.decode(hex)
        else { return nil }
        self.init(bytes.span)
    }

    /// Lets OpenSSL write the 32 bytes in place.
    init(writtenBy write: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe withUnsafeMutableBytes(of: &words) { target in
            unsafe write(target.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    public var bytes: [UInt8] {
        unsafe withUnsafeBytes(of: words) { unsafe [UInt8]($0) }
    }

    /// The first 8 bytes as a number, a short table key: different digests may share it.
    public var prefix: UInt64 { UInt64(bigEndian: words.0) }

    public func append(to output: inout [UInt8]) {
        unsafe withUnsafeBytes(of: words) { unsafe output.append(contentsOf: $0) }
    }

    /// 64 lowercase hexadecimal digits.
    public var hex: String { Hexadecimal.encode(bytes) }
}

extension SHA256Digest: Hashable {
    public static func == (a: SHA256Digest, b: SHA256Digest) -> Bool {
        (a.words.0 ^ b.words.0) | (a.words.1 ^ b.words.1) | (a.words.2 ^ b.words.2) | (a.words.3 ^ b.words.3)
            == 0
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension SHA256Digest: CustomStringConvertible {
    public var description: String { hex }
}
