import CVaultOpenSSL
import Synchronization
public import VaultBase

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
        guard let memory = unsafe CRYPTO_secure_zalloc(size, #fileID, 0) ?? SecureHeap.overflow(size)
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
    public init<E: Error>(capacity: Int, filledBy fill: (inout MutableSpan<UInt8>) throws(E) -> Int) throws(E)
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

/// OpenSSL's secure heap: memory for secrets between guard pages, locked against swapping, excluded from core dumps.
///
/// It is process-wide, so only programs initialise it, never libraries.
public enum SecureHeap {
    public enum State: Sendable, Hashable {
        /// Secrets are on the secure heap, locked into memory.
        case locked
        /// Secrets are on the secure heap, but the system did not lock the memory (see `RLIMIT_MEMLOCK`).
        case unlocked
        /// There is no secure heap; secrets are on the ordinary heap.
        case unavailable
    }

    private static let state = Mutex<State?>(nil)

    /// The result of ``initialise(bytes:)``; nil before it was called.
    public static var reached: State? { state.withLock { $0 } }

    private static let overflowed = Atomic(false)

    /// True once a secret found no room on the secure heap. It is on the ordinary heap, and wiped there.
    public static var hasOverflowed: Bool { overflowed.load(ordering: .relaxed) }

    /// Memory of the ordinary heap.
    fileprivate static func overflow(_ size: Int) -> UnsafeMutableRawPointer? {
        overflowed.store(true, ordering: .relaxed)
        return unsafe CRYPTO_zalloc(size, #fileID, 0)
    }

    /// Initialises the heap once; later calls return the first result.
    ///
    /// Call it before any other thread uses cryptography: OpenSSL reads the heap's state without a lock.
    /// - Parameter bytes: the size, rounded up to a power of two between 4 KiB and 1 GiB.
    @discardableResult
    public static func initialise(bytes: Int) -> State {
        state.withLock { state in
            if let state { return state }
            let reached: State =
                switch CRYPTO_secure_malloc_init(powerOfTwo(holding: bytes), 32) {
                case 1: .locked
                case 2: .unlocked
                default: .unavailable
                }
            state = reached
            return reached
        }
    }

    /// OpenSSL ends the process if the size is not a power of two.
    private static func powerOfTwo(holding bytes: Int) -> Int {
        var size = 1 << 12
        while size < bytes, size < 1 << 30 { size <<= 1 }
        return size
    }
}

/// Random bytes that may be public, such as salts; use `SecretBytes(randomLength:)` for secrets.
public enum SecureRandom {
    /// Bytes from OpenSSL's generator, seeded by the system; `.unavailable` when it has none.
    public static func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        guard let count = Int32(exactly: count), count >= 0 else {
            throw VaultError(
                .usage, "\(count) random bytes can't be made at once", at: "random generator",
                remedy: "ask for fewer")
        }
        return try [UInt8](capacity: Int(count)) { output throws(VaultError) in
            try unsafe output.withUnsafeMutableBufferPointer { target, initialized throws(VaultError) in
                guard unsafe count == 0 || RAND_bytes(target.baseAddress, count) == 1 else {
                    throw VaultError(
                        .unavailable, "the system provides no random bytes", at: "random generator",
                        remedy: "check OpenSSL's installation")
                }
                initialized = Int(count)
            }
        }
    }
}
