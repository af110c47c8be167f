import SealedPack
import VaultBase
import VaultFileSystem

/// Disk space for a tree. If there is not enough, the sealed file is freed while it is opened.
extension PackInstaller {
    /// Makes room for the rest of a tree. Returns the sealed file that is to be freed as it is opened; nil where there is room for both,
    /// or the file is needed.
    ///
    /// - Parameter known: the file, where the caller knows already that it may be freed.
    func makeRoom(
        for tree: ArrivingTree, of pack: PackManifest, openedFrom file: PackFile,
        freeing known: FreeablePack? = nil
    ) async throws(VaultError) -> FreeablePack? {
        let (done, total) = tree.writer.progress
        guard done < total else { return nil }
        let (rest, home) = (pack.installedSize - min(done, pack.installedSize), layout.home(of: pack.id))
        if try space.fits(rest, in: home) { return nil }
        let sealed = if let known { known } else { try freeable(file, of: pack) }
        let needed = try sealed?.room(for: rest) ?? rest
        try await space.make(for: needed, of: pack.id, in: home)
        return needed < rest ? sealed : nil
    }

    /// The sealed file of a pack, if it may be freed: a download, or a pack that waits and that no other one rests on. While the value
    /// lives, no other process moves the file of a pack that waits, or lets another pack rest on it: both lock it, too
    /// (``VerifiedMove``, ``WaitingBases``).
    func freeable(_ file: PackFile, of pack: PackManifest) throws(VaultError) -> FreeablePack? {
        let path = file.file.path
        let isWaiting = path == layout.waitingPack(pack)
        guard isWaiting || layout.downloads(of: pack).contains(path),
            try FileSystem.sameFileSystem(path, layout.permanent),
            let sealed = try? FreeablePack(file, openedSize: pack.openedSize, at: path)
        else { return nil }
        guard isWaiting else { return sealed }
        guard try sealed.file.file.tryLock(exclusive: true), try sealed.file.file.isStill(at: path) else {
            throw .supersededByAnotherProcess(pack.id, in: layout)
        }
        let record = try store.records.record(of: pack.id)
        return try store.waiting(pack.id).isBase(pack, beside: record) ? nil : sealed
    }
}
