import AssetVault
import Synchronization

/// Download progress, set from any task.
final class Updates: Sendable {
    private let count = Mutex(0)
    var bytes: Int { count.withLock { $0 } }

    func add(_ update: StatusUpdate) {
        guard case .progress(_, _, let bytes, _) = update else { return }
        count.withLock { $0 = Int(bytes) }
    }
}
