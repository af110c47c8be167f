import Glibc
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Ephemeral storage may be anybody's: what stands there under a name of ours must be a file that one user alone can write,
/// under this name alone. That is this user, or another one with whom the area is shared.
enum EphemeralName {
    /// Whether it may be gone on with.
    static func isOurs(_ file: FileStatus) -> Bool {
        isOneUsers(file) && file.owner == geteuid()
    }

    /// Whether it may be read, each piece verified, or locked: the other role runs as another user, and the area's folder is
    /// their group's.
    static func isReadable(_ file: FileStatus, at path: FilePath) throws(VaultError) -> Bool {
        if isOurs(file) { return true }
        guard isOneUsers(file) else { return false }
        return try AreaPermissions(of: path.removingLastComponent()).areShared
    }

    private static func isOneUsers(_ file: FileStatus) -> Bool {
        file.kind == .file && file.links == 1 && file.permissions & 0o022 == 0
    }

    /// The file, to be locked: another user's can only be read, which is enough where the lock is not NFS's.
    static func lockableFile(_ path: FilePath) throws(VaultError) -> OpenFile {
        if let file = try? OpenFile(updating: path) { return file }
        return try OpenFile(reading: path)
    }

    /// Removes whatever else stands there.
    static func discardForeign(_ path: FilePath) throws(VaultError) {
        guard let found = try FileSystem.status(of: path) else { return }
        guard try !isReadable(found, at: path), let name = path.lastComponent?.string else { return }
        try Folder(opening: path.removingLastComponent()).discard(name)
    }
}
