import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A tree that a pack is opened into, and the pack's tail, with which the next version can take pieces from the tree. Both are
/// removed when the value is gone, unless they got their names.
struct WrittenTree: ~Copyable {
    let folder: ScratchFolder
    let tail: ScratchFile

    init(of pack: PackManifest, in layout: StoreLayout) throws(VaultError) {
        let folder = try ScratchFolder(in: layout.home(of: pack.id))
        self.init(folder, try ScratchFile(for: layout.tail(of: pack)))
    }

    private init(_ folder: consuming ScratchFolder, _ tail: consuming ScratchFile) {
        self.folder = folder
        self.tail = tail
    }

    /// Gives both their names, under the lock: the tail first, since a tree is used with its tail.
    consuming func commit(to path: FilePath) throws(VaultError) {
        try tail.commit(permissions: 0o644, replacing: true)
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
        try source.pack.writeTail(to: tree.tail.file)
        StagingStep.openingBegan.reached()
        try await source.extract(into: tree.folder.folder, progress: progress)
        // Before the lock is taken: this may last.
        try tree.folder.folder.synchronizeFileSystem()
        return tree
    }
}
