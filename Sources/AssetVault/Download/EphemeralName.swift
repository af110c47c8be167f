import SystemPackage
import VaultErrors
import VaultFileSystem

/// Other users may write to ephemeral storage: a file there counts only if a single user can write it and it has a
/// single name. That user is this one, or another one that shares the area.
enum EphemeralName {
    /// Whether a download may continue in it.
    static func isOurs(_ file: FileStatus) -> Bool { isOneUsers(file) && file.isOfThisUser }

    /// Whether it may be locked, or read with each piece verified: the other role may run as another user of the area's
    /// group.
    static func isReadable(_ file: FileStatus, at path: FilePath) throws(VaultError) -> Bool {
        if isOurs(file) { return true }
        guard isOneUsers(file) else { return false }
        return try AreaPermissions(of: path.removingLastComponent()).areShared
    }

    private static func isOneUsers(_ file: FileStatus) -> Bool {
        file.kind == .file && file.hardLinks == 1 && file.permissions & 0o022 == 0
    }

    /// The file, open for a lock: another user's can only be read, which is enough except on NFS.
    static func lockableFile(_ path: FilePath) throws(VaultError) -> OpenFile {
        if let file = try? OpenFile(updating: path) { return file }
        return try OpenFile(reading: path)
    }

    /// Removes an entry of any other kind.
    static func discardForeign(_ path: FilePath) throws(VaultError) {
        guard let found = try FileSystem.status(of: path), try !isReadable(found, at: path) else { return }
        try FileSystem.discard(path)
    }
}
