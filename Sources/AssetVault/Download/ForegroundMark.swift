import SealedPack
import VaultErrors
import VaultFileSystem

/// Promotion: an app that waits for a download which a downloader has begun takes it over. It locks
/// `ephemeral/SHA256.wanted`; the downloader looks there while bytes arrive, and leaves what it has to the app.
struct ForegroundMark {
    let layout: StoreLayout
    let pack: PackDescriptor

    /// Asks for the download as long as the value is there; nil while somebody else asks.
    func raise() throws(VaultError) -> FileLock? {
        try FileLock.tryAcquire(layout.foregroundMark(of: pack), .exclusive)
    }

    func isRaised() throws(VaultError) -> Bool {
        let path = layout.foregroundMark(of: pack)
        guard try FileSystem.exists(path) else { return false }
        do throws(VaultError) {
            return try FileLock.tryAcquire(path, .shared) == nil
        } catch {
            // What is no file was not put there by an app.
            guard error.category == .corrupt else { throw error }
            return false
        }
    }
}
