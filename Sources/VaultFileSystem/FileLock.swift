internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// Exclusive or shared control between processes: `flock` on a lock file that is never removed.
///
/// Held until the value goes away; the system gives it back when the process dies.
public struct FileLock: ~Copyable, Sendable {
    public enum Mode: Sendable, Hashable {
        /// Held by any number of processes at once, while nobody has it exclusively.
        case shared
        case exclusive
    }

    public let mode: Mode
    private let file: OpenFile

    /// Takes the lock if nobody stands in the way, else nil. The lock file is made (0600) where it is
    /// missing. Throws `.unwritable` when it can't be made.
    public static func tryAcquire(_ path: FilePath, _ mode: Mode) throws(VaultError) -> FileLock? {
        let file = try open(path)
        return try file.tryLock(exclusive: mode == .exclusive) ? FileLock(mode: mode, file: file) : nil
    }

    /// Waits for the lock up to `patience`, then throws `.busy`; also when the task is cancelled.
    public static func acquire(
        _ path: FilePath, _ mode: Mode, patience: Duration
    ) async throws(VaultError) -> FileLock {
        let deadline = ContinuousClock.now + patience
        let file = try open(path)
        var pause = Duration.milliseconds(1)
        while try !file.tryLock(exclusive: mode == .exclusive) {
            let left = deadline - .now
            guard left > .zero else { throw busy(path, "somebody else is using it") }
            do {
                try await Task.sleep(for: min(pause, left))
            } catch {
                throw busy(path, "waiting for it was cancelled")
            }
            pause = min(pause * 2, .milliseconds(100))
        }
        return FileLock(mode: mode, file: file)
    }

    private init(mode: Mode, file: consuming OpenFile) {
        self.mode = mode
        self.file = file
    }

    private static func open(_ path: FilePath) throws(VaultError) -> OpenFile {
        let opened = unsafe path.withPlatformString { path in
            let opened = unsafe vault_open(VAULT_HERE, path, VAULT_LOCK_FILE, 0o600)
            // A lock needs no right to write.
            guard opened == -EACCES || opened == -EROFS else { return opened }
            let flags = VAULT_READ | VAULT_NO_FOLLOW
            let readable = unsafe vault_open(VAULT_HERE, path, flags, 0)
            return readable == -ENOENT ? opened : readable
        }
        let file = OpenFile(
            takingOwnershipOf: try check(opened, .creating, "open the lock file", path), named: path)
        try file.requireRegular()
        return file
    }

    private static func busy(_ path: FilePath, _ problem: String) -> VaultError {
        VaultError(.busy, problem, at: path.string, remedy: "try again when the other program is done")
    }
}
