import CVaultOpenSSL
public import VaultErrors

/// Secret bytes: on OpenSSL's secure heap once `SecureHeap.initialise` was called, wiped when freed, never copied
/// implicitly, without a description.
///
/// If the secure heap is full or not initialised, the bytes are on the ordinary heap and still wiped.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutablePointer<UInt8>
    public let count: Int

    /// Bytes of value zero.
    init(count: Int) {
        precondition(count >= 0, "a count of bytes is never negative")
        // At least one byte, as an empty allocation has no address.
        let size = max(count, 1)
        guard let memory = unsafe CRYPTO_secure_zalloc(size, #fileID, 0) ?? CRYPTO_zalloc(size, #fileID, 0)
        else {
            fatalError("out of memory")
        }
        unsafe self.start = memory.assumingMemoryBound(to: UInt8.self)
        self.count = count
    }

    deinit {
        // OpenSSL determines which heap the bytes are on.
        unsafe CRYPTO_secure_clear_free(start, max(count, 1), #fileID, 0)
    }

    public init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count)
        withMutableBytes { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Fresh random bytes from OpenSSL's generator for private values.
    public init(randomLength: Int) {
        self.init(count: randomLength)
        guard let count = Int32(exactly: randomLength) else { fatalError("too many random bytes at once") }
        unsafe require(RAND_priv_bytes(start, count) == 1, "making random bytes")
    }

    /// Passes `capacity` zero bytes to `fill`, and keeps as many as it returns.
    public init(capacity: Int, filledBy fill: (inout MutableSpan<UInt8>) throws(VaultError) -> Int)
        throws(VaultError)
    {
        let buffer = SecretBytes(count: capacity)
        let filled = try buffer.withMutableBytes(fill)
        precondition(filled >= 0 && filled <= capacity, "more bytes were reported than fit the buffer")
        self = buffer.withBytes { SecretBytes(copying: $0.extracting(0..<filled)) }
    }

    /// The span is valid only during the call.
    public func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeBufferPointer(start: start, count: count).span)
    }

    public func copy() -> SecretBytes {
        withBytes { SecretBytes(copying: $0) }
    }

    /// True if both are equal, in a time that depends only on the lengths.
    public static func constantTimeEqual(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for index in a.indices { difference |= a[index] ^ b[index] }
        return difference == 0
    }

    /// Only for initialisation; a finished value never changes.
    func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe UnsafeMutableBufferPointer(start: start, count: count).mutableSpan
        return try body(&span)
    }

    /// True if the bytes are on OpenSSL's secure heap: locked into memory, excluded from core dumps, between guard
    /// pages.
    public var isOnSecureHeap: Bool {
        unsafe CRYPTO_secure_allocated(start) == 1
    }
}
