import CVaultOpenSSL
public import VaultErrors

/// Bytes that must stay secret: kept on OpenSSL's secure heap once `SecureHeap.initialise` was called, wiped when
/// they go, never copied unasked, without any description.
///
/// When the secure heap is full, or was never asked for, the bytes live on the ordinary heap and are wiped all the same.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutablePointer<UInt8>
    public let count: Int

    /// Bytes of value zero.
    init(count: Int) {
        precondition(count >= 0, "a count of bytes is never negative")
        // One byte at least: an empty allocation has no address.
        let size = max(count, 1)
        guard let memory = unsafe CRYPTO_secure_zalloc(size, #fileID, 0) ?? CRYPTO_zalloc(size, #fileID, 0)
        else {
            fatalError("out of memory")
        }
        unsafe self.start = memory.assumingMemoryBound(to: UInt8.self)
        self.count = count
    }

    deinit {
        // Finds by itself which heap the bytes are on.
        unsafe CRYPTO_secure_clear_free(start, max(count, 1), #fileID, 0)
    }

    public init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count)
        withMutableBytes { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Fresh random bytes from OpenSSL's generator for private values.
    public init(randomCount: Int) {
        self.init(count: randomCount)
        guard let count = Int32(exactly: randomCount) else { fatalError("too many random bytes at once") }
        unsafe require(RAND_priv_bytes(start, count) == 1, "making random bytes")
    }

    /// Hands out `capacity` zero bytes to fill, and keeps the first so many as `filledBy` returns.
    public init(capacity: Int, filledBy fill: (inout MutableSpan<UInt8>) throws(VaultError) -> Int)
        throws(VaultError)
    {
        let room = SecretBytes(count: capacity)
        let filled = try room.withMutableBytes(fill)
        precondition(filled >= 0 && filled <= capacity, "more bytes were reported than there is room for")
        self = room.withBytes { SecretBytes(copying: $0.extracting(0..<filled)) }
    }

    /// Lends the bytes for the time of the call.
    public func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeBufferPointer(start: start, count: count).span)
    }

    public func copy() -> SecretBytes {
        withBytes { SecretBytes(copying: $0) }
    }

    /// True if both are equal, in a time that depends on the counts alone.
    public static func constantTimeEqual(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for index in a.indices { difference |= a[index] ^ b[index] }
        return difference == 0
    }

    /// Only while a value is being made: a finished one never changes.
    func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe UnsafeMutableBufferPointer(start: start, count: count).mutableSpan
        return try body(&span)
    }

    /// True if the bytes stand on OpenSSL's secure heap: locked into memory, out of core dumps, between guard pages.
    public var isOnSecureHeap: Bool {
        unsafe CRYPTO_secure_allocated(start) == 1
    }
}
