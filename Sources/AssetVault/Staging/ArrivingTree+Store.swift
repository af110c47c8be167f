import SealedPack
import VaultBase
import VaultFileSystem

/// The arriving trees of a store.
extension ArrivingTree {
    /// Nil while another process opens the pack, where the file system has no locks, and where what an earlier attempt left can't be
    /// used.
    static func claim(
        _ pack: PackManifest, opening source: OpenPack, restingOn basis: TreeBasis?, in layout: StoreLayout
    ) async throws(VaultError) -> ArrivingTree? {
        let path = layout.arrivingTree(of: pack)
        do throws(VaultError) {
            try FileSystem.createFolders(layout.home(of: pack.id), permissions: 0o755)
            try FileSystem.createFolders(path, permissions: 0o700)
        } catch {
            // A process that removes old versions takes a tree that is not locked yet.
            guard error.category == .busy else { throw error }
            return nil
        }
        do throws(VaultError) {
            return try await claim(path, opening: source, .readOnly, restingOn: basis)
        } catch {
            guard error.isDamage || error.category == .unwritable else { throw error }
            // The tree of a pack that was freed in part has pieces that are nowhere else.
            let isOnlyCopy = (try? OpenFile(reading: layout.waitingPack(pack)).hasHoles) == true
            guard !isOnlyCopy || error.category == .corrupt else { throw error }
            try FileSystem.removeTree(path)
            return nil
        }
    }

    /// Removes the arriving tree of a pack, unless a process has it locked.
    static func discard(_ pack: PackManifest, in layout: StoreLayout) throws(VaultError) {
        let path = layout.arrivingTree(of: pack)
        guard try FileSystem.exists(path) else { return }
        let folder = try Folder(opening: path)
        if try folder.tryLock(exclusive: true) { try FileSystem.removeTree(path) }
    }
}
