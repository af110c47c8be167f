import Synchronization
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Exclusive control of a store, until the value goes away. Tasks of one process take turns; other processes are kept out
/// by the lock on the store's file.
final class StoreControl: Sendable {
    private let lock: Mutex<FileLock?>
    private let turns: Turns

    /// Throws `.busy` when another process does not leave the store within `patience`.
    static func take(_ path: FilePath, patience: Duration) async throws(VaultError) -> StoreControl {
        let turns = all.withLock { all in
            let turns = all[path] ?? Turns(1)
            all[path] = turns
            return turns
        }
        try await turns.take(for: path.string)
        do throws(VaultError) {
            return StoreControl(
                lock: try await FileLock.acquire(path, .exclusive, patience: patience), turns: turns)
        } catch {
            turns.giveBack()
            throw error
        }
    }

    private init(lock: consuming FileLock, turns: Turns) {
        self.lock = Mutex(lock)
        self.turns = turns
    }

    deinit {
        // First the lock, so that whoever has the next turn finds it free.
        lock.withLock { $0 = nil }
        turns.giveBack()
    }

    /// One for each store that this process has used.
    private static let all = Mutex<[FilePath: Turns]>([:])
}
