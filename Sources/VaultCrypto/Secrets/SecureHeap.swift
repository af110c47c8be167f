import CVaultOpenSSL
import Synchronization

/// OpenSSL's secure heap: memory for secrets between guard pages, locked against swapping, left out of core dumps.
///
/// It belongs to the process, so a program asks for it and a library never does.
public enum SecureHeap {
    public enum State: Sendable, Hashable {
        /// Secrets are kept there, and locked into memory.
        case locked
        /// Secrets are kept there, but the system did not lock the memory (see `RLIMIT_MEMLOCK`).
        case unlocked
        /// The system gave no such memory; secrets stay on the ordinary heap.
        case unavailable
    }

    private static let state = Mutex<State?>(nil)

    /// What ``initialise(bytes:)`` has reached; nil before it was called.
    public static var reached: State? { state.withLock { $0 } }

    /// Sets the heap up, once; later calls only report what the first one reached.
    ///
    /// Call it before any other thread uses cryptography: OpenSSL looks at the heap's state without a lock.
    /// - Parameter bytes: the wished size, raised to a power of two between 4 KiB and 1 GiB.
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

    /// OpenSSL ends the process when the size is no power of two.
    private static func powerOfTwo(holding bytes: Int) -> Int {
        var size = 1 << 12
        while size < bytes, size < 1 << 30 { size <<= 1 }
        return size
    }
}
