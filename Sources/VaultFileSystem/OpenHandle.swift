internal import CVaultSystem
public import SystemPackage
public import VaultErrors

/// The common part of ``OpenFile`` and ``Folder``: a descriptor and the path that it was opened by.
public protocol OpenHandle: ~Copyable {
    /// The path that it was opened by, for messages.
    var path: FilePath { get }
    /// Valid as long as the value lives; closing it elsewhere is an error.
    var descriptor: Int32 { get }
}

extension OpenHandle where Self: ~Copyable {
    public func status() throws(VaultError) -> FileStatus {
        var status = stat()
        try check(unsafe vault_fstat(descriptor, &status), .reading, "read the status", path)
        return FileStatus(status)
    }

    /// Sets the permissions of a new file or folder. Its creator owns it, so a refusal means that the file system (of a
    /// USB stick, say) has no permissions.
    func setPermissionsOfNew(_ permissions: UInt16) throws(VaultError) {
        let result = vault_fchmod(descriptor, mode_t(permissions))
        if result == -EPERM || result == -EOPNOTSUPP { return }
        try check(result, .creating, "set the permissions", path)
    }

    /// Waits until everything written to this file system is on the disk (`syncfs`), for many files at once. If it throws,
    /// nothing written since this handle was opened may be relied on.
    public func synchronizeFileSystem() throws(VaultError) {
        try check(vault_syncfs(descriptor), .changing, "save the file system to the disk", path)
    }

    /// Acquires an advisory lock (`flock`) if it is free.
    ///
    /// It lasts until the value is destroyed or the process dies. Returns false when another process has it; throws
    /// `.io` where the file system has no locks.
    public func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        let result = vault_try_lock(descriptor, exclusive ? 1 : 0)
        if result == -EWOULDBLOCK { return false }
        try check(result, .changing, "lock", path)
        return true
    }

    /// Keeps the descriptor and its locks open across `exec`; see ``ProcessReplacement``.
    public func keepOpenAcrossExec() throws(VaultError) {
        try check(vault_keep_on_exec(descriptor), .changing, "keep it open", path)
    }

    /// Releases the lock explicitly, since a child process that is just starting may have a copy of the descriptor for
    /// a moment.
    public func unlock() {
        vault_unlock(descriptor)
    }
}
