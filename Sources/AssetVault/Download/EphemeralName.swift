import Glibc
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Ephemeral storage may be anybody's: what stands there under a name of ours must be a file that only this user can
/// write, under this name alone.
enum EphemeralName {
    static func isOurs(_ file: FileStatus) -> Bool {
        file.kind == .file && file.owner == geteuid() && file.links == 1 && file.permissions & 0o022 == 0
    }

    /// Removes whatever else stands there.
    static func discardForeign(_ path: FilePath) throws(VaultError) {
        guard let found = try FileSystem.status(of: path) else { return }
        if !isOurs(found) { try FileSystem.removeTree(path) }
    }
}
