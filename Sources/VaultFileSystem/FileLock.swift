internal import CVaultSystem
public import SystemPackage
public import VaultBase

/// An exclusive or shared lock between processes: `flock` on a lock file that is never removed.
///
/// Released when the value is destroyed or the process dies. Two values in one process exclude each other as two
/// processes do.
public struct FileLock: ~Copyable, Sendable {
    public enum Mode: Sendable, Hashable {
        /// Any number of holders, while there is no exclusive lock.
        case shared
        case exclusive
    }

    public let mode: Mode
    private let file: OpenFile

    /// Acquires the lock if it is free, else returns nil. A missing lock file is created. Throws `.unwritable` when it
    /// can't be.
    public static func tryAcquire(
        _ path: FilePath, _ mode: Mode, permissions: UInt16 = 0o600
    ) throws(VaultError) -> FileLock? {
        while true {
            let file = try open(path, permissions)
            guard try file.tryLock(exclusive: mode == .exclusive) else { return nil }
            // The removal of a lock file (with the whole store) must not allow two owners.
            if try file.status().hardLinks > 0 { return FileLock(mode: mode, file: file) }
        }
    }

    /// Waits for the lock for up to `patience`, then throws `.busy`; also when the task is cancelled.
    public static func acquire(
        _ path: FilePath, _ mode: Mode, patience: Duration, permissions: UInt16 = 0o600
    ) async throws(VaultError) -> FileLock {
        let deadline = ContinuousClock.now + patience
        var pause = Duration.milliseconds(1)
        while true {
            if let lock = try tryAcquire(path, mode, permissions: permissions) { return lock }
            let left = deadline - .now
            guard left > .zero else { throw busy(path, "another process is using it") }
            do {
                try await Task.sleep(for: min(pause, left))
            } catch {
                throw busy(path, "waiting for it was cancelled")
            }
            pause = min(pause * 2, .milliseconds(100))
        }
    }

    deinit {
        // A child process that is just starting may have a copy of the descriptor for a moment.
        vault_unlock(file.descriptor)
    }

    private init(mode: Mode, file: consuming OpenFile) {
        self.mode = mode
        self.file = file
    }

    private static func open(_ path: FilePath, _ permissions: UInt16) throws(VaultError) -> OpenFile {
        while true {
            var opened = unsafe vault_open(VAULT_WORKING_FOLDER, path.characters, VAULT_UPDATE, 0)
            if opened == -EACCES || opened == -EROFS || opened == -EISDIR {
                // Only NFS requires write permission for an exclusive lock.
                opened = unsafe vault_open(
                    VAULT_WORKING_FOLDER, path.characters, VAULT_READ | VAULT_NO_FOLLOW, 0)
            }
            if opened != -ENOENT {
                let file = OpenFile(
                    takingOwnershipOf: try check(opened, .reading, "open the lock file", path), named: path)
                try file.status().require(.file, path)
                return file
            }
            let made = unsafe vault_open(VAULT_WORKING_FOLDER, path.characters, VAULT_CREATE, 0o600)
            if made == -EEXIST { continue }
            let file = OpenFile(
                takingOwnershipOf: try check(made, .creating, "create the lock file", path), named: path)
            try file.setPermissionsOfNew(permissions)
            return file
        }
    }

    private static func busy(_ path: FilePath, _ problem: String) -> VaultError {
        VaultError(.busy, problem, at: path.string, remedy: "try again when the other program is done")
    }
}
