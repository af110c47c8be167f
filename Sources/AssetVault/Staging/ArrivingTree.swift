import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// The folder that a download is opened into, piece by piece. It is named, and locked by its process: after a kill, the next attempt
/// takes up what is there. Nothing of it is visible before it is complete.
final class ArrivingTree: Sendable {
    let folder: Folder
    let writer: TreeWriter

    /// - Throws: what ``TreeWriter/init(of:into:_:restingOn:)`` throws.
    private init(_ folder: consuming Folder, of source: OpenPack, restingOn basis: TreeBasis?)
        async throws(VaultError)
    {
        writer = try await TreeWriter(of: source, into: folder, .readOnly, restingOn: basis)
        self.folder = folder
    }

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
        guard let folder = try? Folder(opening: path), try folder.status().isOfThisUser else { return nil }
        guard let isLocked = try? folder.tryLock(exclusive: true) else {
            if try folder.names(upTo: 1).names.isEmpty { try FileSystem.removeTree(path) }
            return nil
        }
        guard isLocked, try FileSystem.status(of: path)?.isSameFile(as: folder.status()) == true else {
            return nil
        }
        StagingStep.openingBegan.reached()
        do throws(VaultError) { return try await ArrivingTree(folder, of: source, restingOn: basis) } catch {
            guard error.isDamage || error.category == .unwritable else { throw error }
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

    /// Removes what did not get its final name. What can't be removed costs disk space until the pack is recovered.
    func discard() {
        if (try? isStillNamed) == true { try? FileSystem.removeTree(folder.path) }
    }

    /// Whether the name is this folder's: another process may have removed it, and a third one begun anew.
    private var isStillNamed: Bool {
        get throws(VaultError) {
            try FileSystem.status(of: folder.path)?.isSameFile(as: folder.status()) == true
        }
    }

    /// Gives the complete tree, which is saved to the disk, its final name, and leaves it to its readers.
    func commit(to target: FilePath, permissions: UInt16) throws(VaultError) {
        guard try isStillNamed else {
            throw VaultError(
                .busy, "another process removed the tree", at: folder.path.string, remedy: "try again")
        }
        try folder.setPermissionsOfNew(permissions)
        try folder.synchronize()
        try FileSystem.move(folder.path, to: target, replacing: false)
        folder.unlock()
        try Folder(opening: target.removingLastComponent()).synchronize()
    }
}
