import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Promotion: an app that needs a pack now continues the download of a downloader. It locks `ephemeral/SHA256.wanted`;
/// the downloader checks the lock also while no bytes arrive, and leaves the file to the app.
struct ForegroundMark {
    let layout: StoreLayout
    let pack: PackManifest

    /// Asks for the download as long as the value lives; nil while another process asks.
    func raise() throws(VaultError) -> FileLock? {
        try EphemeralName.discardForeign(path)
        let permissions = try AreaPermissions(of: layout.ephemeral).files
        do throws(VaultError) {
            return try FileLock.tryAcquire(path, .exclusive, permissions: permissions)
        } catch {
            // Another user's file that is closed to this one is no mark, and only in the way.
            guard let found = try FileSystem.status(of: path), found.mayBeClosed else { throw error }
            try FileSystem.discard(path)
            return try FileLock.tryAcquire(path, .exclusive, permissions: permissions)
        }
    }

    /// Returns when the mark is raised, or the task is cancelled.
    func waitUntilRaised() async {
        while (try? isRaised()) != true {
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
        }
    }

    func isRaised() throws(VaultError) -> Bool {
        guard let found = try FileSystem.status(of: path), try EphemeralName.isReadable(found, at: path)
        else {
            return false
        }
        do throws(VaultError) {
            return try FileLock.tryAcquire(path, .shared) == nil
        } catch {
            // Replaced meanwhile: an app would have made a file.
            guard error.category == .corrupt else { throw error }
            return false
        }
    }

    private var path: FilePath { layout.foregroundMark(of: pack) }
}
