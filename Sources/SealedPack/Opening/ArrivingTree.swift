package import SystemPackage
package import VaultBase
package import VaultFileSystem

/// The folder that a pack is opened into, piece by piece, if that may be interrupted: by a download, or because the pack's pieces are freed
/// meanwhile. It is named, and locked by its process: after a kill, the next attempt takes up what is there. Nothing of it is visible before
/// it is complete.
package final class ArrivingTree: Sendable {
    package let folder: Folder
    package let writer: TreeWriter

    private init(_ folder: consuming Folder, _ writer: TreeWriter) {
        self.folder = folder
        self.writer = writer
    }

    /// Nil while another process opens the pack, where the file system has no locks, and for another user's folder.
    ///
    /// - Parameter path: an existing folder, empty or left by an earlier attempt.
    /// - Throws: what ``TreeWriter/init(of:into:_:restingOn:)`` throws.
    package static func claim(
        _ path: FilePath, opening source: OpenPack, _ modes: TreeModes, restingOn basis: TreeBasis? = nil
    ) async throws(VaultError) -> ArrivingTree? {
        guard let folder = try? Folder(opening: path), try folder.status().isOfThisUser else { return nil }
        guard let isLocked = try? folder.tryLock(exclusive: true) else {
            if try folder.names(upTo: 1).names.isEmpty { try FileSystem.removeTree(path) }
            return nil
        }
        guard isLocked, try folder.isStill(at: path) else { return nil }
        FailPoint.reach("openingBegan")
        let writer = try await TreeWriter(of: source, into: folder, modes, restingOn: basis)
        return ArrivingTree(folder, writer)
    }

    /// Removes what did not get its final name. What can't be removed costs disk space until the pack is recovered.
    package func discard() {
        if (try? folder.isStill(at: folder.path)) == true { try? FileSystem.removeTree(folder.path) }
    }

    /// Gives the complete tree, which is saved to the disk, its final name, and leaves it to its readers.
    package func commit(to target: FilePath, permissions: UInt16, replacingEmptyFolder: Bool = false)
        throws(VaultError)
    {
        guard try folder.isStill(at: folder.path) else {
            throw VaultError(
                .busy, "another process removed the tree", at: folder.path.string, remedy: "try again")
        }
        let parent = try Folder(holding: target)
        try folder.setPermissionsOfNew(permissions)
        try folder.synchronize()
        try FileSystem.move(folder.path, to: target, replacing: replacingEmptyFolder)
        folder.unlock()
        try parent.synchronize()
    }
}
