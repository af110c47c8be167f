import Synchronization
import SystemPackage
import VaultConcurrency
import VaultErrors
import VaultFileSystem

/// The locks of a store, held until the value is gone. Tasks of one process wait for each other in memory; other processes
/// are kept out by locks on the store's files.
final class StoreLock: Sendable {
    private let files: Mutex<Files>
    private let tasks: AsyncSemaphore

    private struct Files: ~Copyable {
        var first: FileLock?
        var second: FileLock?
    }

    /// Throws `.busy` when another process does not release the store within `patience`.
    ///
    /// - Parameter paths: at most two, always locked in this order.
    static func acquire(
        _ paths: [FilePath], permissions: (FilePath) -> UInt16, patience: Duration
    ) async throws(VaultError) -> StoreLock {
        let place = paths.first ?? ""
        let tasks = all.withLock { all in
            let tasks = all[place] ?? AsyncSemaphore(1)
            all[place] = tasks
            return tasks
        }
        try await tasks.acquire(for: place.string)
        do throws(VaultError) {
            var files = Files()
            if !paths.isEmpty {
                files.first = try await FileLock.acquire(
                    place, .exclusive, patience: patience, permissions: permissions(place))
            }
            if paths.count > 1 {
                files.second = try await FileLock.acquire(
                    paths[1], .exclusive, patience: patience, permissions: permissions(paths[1]))
            }
            return StoreLock(files: files, tasks: tasks)
        } catch {
            tasks.release()
            throw error
        }
    }

    private init(files: consuming Files, tasks: AsyncSemaphore) {
        self.files = Mutex(files)
        self.tasks = tasks
    }

    deinit {
        // The files first: the next task finds them free.
        files.withLock { $0 = Files() }
        tasks.release()
    }

    /// One for each store that this process has used.
    private static let all = Mutex<[FilePath: AsyncSemaphore]>([:])
}
