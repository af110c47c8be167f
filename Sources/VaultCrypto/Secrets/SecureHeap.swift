import CVaultOpenSSL
import Synchronization

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
