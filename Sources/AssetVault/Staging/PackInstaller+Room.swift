import SealedPack
import VaultBase
import VaultFileSystem

/// Disk space for a tree. If there is not enough, the sealed file is given up while it is opened.
extension PackInstaller {
    /// Makes room for the rest of a tree. Returns the sealed file that is to be given up as it is opened; nil where there is room for
    /// both, or the file is needed.
    func makeRoom(for tree: ArrivingTree, of pack: PackManifest, openedFrom file: PackFile)
        async throws(VaultError) -> ConsumablePack?
    {
        let (done, total) = tree.writer.progress
        guard done < total else { return nil }
        let (rest, home) = (pack.installedSize - min(done, pack.installedSize), layout.home(of: pack.id))
        if try space.fits(rest, in: home) { return nil }
        let sealed = try consumable(file, of: pack, for: rest)
        try await space.make(for: try sealed?.room(for: rest) ?? rest, of: pack.id, in: home)
        return sealed
    }

    /// The sealed file of a pack, if giving it up makes room for the rest of its tree: a download, or a pack that waits and that no other
    /// one rests on.
    func consumable(_ file: PackFile, of pack: PackManifest, for rest: UInt64) throws(VaultError)
        -> ConsumablePack?
    {
        let path = file.file.path
        let isWaiting = path == layout.waitingPack(pack)
        let hasResting = isWaiting ? try store.waiting(pack.id).haveBases : false
        guard isWaiting || layout.downloads(of: pack).contains(path), !hasResting,
            try FileSystem.sameFileSystem(path, layout.permanent),
            let sealed = try? ConsumablePack(file, openedSize: pack.openedSize, at: path)
        else { return nil }
        // A process that moves the file locks it, too (``VerifiedMove``): what it has moved is no longer given up.
        if isWaiting {
            guard try sealed.file.file.tryLock(exclusive: true),
                try FileSystem.status(of: path)?.isSameFile(as: sealed.file.file.status()) == true
            else { throw .supersededByAnotherProcess(pack.id, in: layout) }
        }
        return try sealed.room(for: rest) < rest ? sealed : nil
    }
}
