import Synchronization
import VaultCrypto

/// Secrets that the system may write to its swap space.
enum SwapWarning {
    private static let isReported = Mutex(false)

    /// Warns once a run, before keys are read or made, that the system did not lock the memory for them. The work
    /// continues: machines without swap, or with encrypted swap, are not affected.
    static func report() {
        guard let reached = SecureHeap.reached, reached != .locked else { return }
        let isFirst = isReported.withLock { isReported in
            defer { isReported = true }
            return !isReported
        }
        guard isFirst else { return }
        Console.note(
            "warning: the system locks no memory for keys, so that they may reach its swap space; allow 1 MiB of it (ulimit -l)"
        )
    }
}
