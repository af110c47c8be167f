/// SHA-512 (FIPS 180-4) of a message in parts; after `finalize()` it begins the next message.
public struct SHA512: ~Copyable, Sendable {
    private var context = HashContext(.sha512)

    public init() {}

    public mutating func update(_ bytes: Span<UInt8>) {
        context.update(bytes)
    }

    /// The digest of the bytes since the start or the last call.
    public mutating func finalize() -> SHA512Digest {
        unsafe SHA512Digest { target in unsafe context.finalize(into: target) }
    }

    public static func hash(_ message: Span<UInt8>) -> SHA512Digest {
        var hash = SHA512()
        hash.update(message)
        return hash.finalize()
    }
}
