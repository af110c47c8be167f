import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A tree that a pack is opened into, and the pack's tail file, with which the next version can take pieces from the tree. Both
/// are removed when the value is gone, unless they got their names.
struct WrittenTree: ~Copyable {
    let folder: ScratchFolder
    let tailFile: ScratchFile

    init(of pack: PackManifest, in layout: StoreLayout) throws(VaultError) {
        let folder = try ScratchFolder(in: layout.home(of: pack.id))
        self.init(folder, try ScratchFile(for: layout.tailFile(of: pack)))
    }

    private init(_ folder: consuming ScratchFolder, _ tailFile: consuming ScratchFile) {
        self.folder = folder
        self.tailFile = tailFile
    }

    /// Gives both their names, under the lock: the tail file first, since a tree is used with it.
    consuming func commit(to path: FilePath) throws(VaultError) {
        try tailFile.commit(permissions: 0o644, replacing: true)
        StagingStep.tailSaved.reached()
        try folder.commit(to: path, permissions: Umask.current.applied(to: 0o755))
    }
}

extension PackInstaller {
    /// Writes the pack's files aside, and saves them to the disk.
    func write(_ source: OpenPack, of pack: PackManifest, progress: (UInt64) -> Void)
        async throws(VaultError) -> WrittenTree
    {
        try await space.make(for: pack.installedSize, of: pack.id, in: layout.home(of: pack.id))
        let tree = try WrittenTree(of: pack, in: layout)
        try source.pack.writeTailFile(to: tree.tailFile.file)
        StagingStep.openingBegan.reached()
        try await source.extract(into: tree.folder.folder, progress: progress)
        // Before the lock is taken: this may last.
        try tree.folder.folder.synchronizeFileSystem()
        return tree
    }
}
