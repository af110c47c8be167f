import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Promotion: an app that waits for a download which a downloader has begun takes it over. It locks
/// `ephemeral/SHA256.wanted`; the downloader looks there also while no bytes arrive, and leaves what it has to the app.
struct ForegroundMark {
    let layout: StoreLayout
    let pack: PackManifest

    /// Asks for the download as long as the value is there; nil while somebody else asks.
    func raise() throws(VaultError) -> FileLock? {
        try EphemeralName.discardForeign(path)
        let permissions = try AreaPermissions(of: layout.ephemeral).files
        return try FileLock.tryAcquire(path, .exclusive, permissions: permissions)
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
            // Something else by now: an app would have put a file there.
            guard error.category == .corrupt else { throw error }
            return false
        }
    }

    private var path: FilePath { layout.foregroundMark(of: pack) }
}
