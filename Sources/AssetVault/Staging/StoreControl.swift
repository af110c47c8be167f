import Synchronization
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Exclusive control of a store, until the value goes away. Tasks of one process take turns; other processes are kept out
/// by locks on the store's files.
final class StoreControl: Sendable {
    private let locks: Mutex<Locks>
    private let turns: AsyncSemaphore

    private struct Locks: ~Copyable {
        var first: FileLock?
        var second: FileLock?
    }

    /// Throws `.busy` when another process does not leave the store within `patience`.
    ///
    /// - Parameter paths: at most two, taken in this order by everybody.
    static func take(
        _ paths: [FilePath], permissions: (FilePath) -> UInt16, patience: Duration
    ) async throws(VaultError) -> StoreControl {
        let place = paths.first ?? ""
        let turns = all.withLock { all in
            let turns = all[place] ?? AsyncSemaphore(1)
            all[place] = turns
            return turns
        }
        try await turns.take(for: place.string)
        do throws(VaultError) {
            var locks = Locks()
            if !paths.isEmpty {
                locks.first = try await FileLock.acquire(
                    place, .exclusive, patience: patience, permissions: permissions(place))
            }
            if paths.count > 1 {
                locks.second = try await FileLock.acquire(
                    paths[1], .exclusive, patience: patience, permissions: permissions(paths[1]))
            }
            return StoreControl(locks: locks, turns: turns)
        } catch {
            turns.giveBack()
            throw error
        }
    }

    private init(locks: consuming Locks, turns: AsyncSemaphore) {
        self.locks = Mutex(locks)
        self.turns = turns
    }

    deinit {
        // First the locks, so that the next turn finds them free.
        locks.withLock { $0 = Locks() }
        turns.giveBack()
    }

    /// One for each store that this process has used.
    private static let all = Mutex<[FilePath: AsyncSemaphore]>([:])
}
