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
    /// (``VerifiedMove``, ``PieceBases``).
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

extension PackStager {
    /// Disk space for all packs of a set. Their indexes are fetched only if it depends on what is in the store already.
    func makeRoom(for offers: [LocatedPack]) async throws(VaultError) {
        guard let first = offers.first else { return }
        let home = store.layout.permanent
        try FileSystem.createFolders(home, permissions: AreaPermissions.permanent.folders)
        let most = offers.map { (try? mostWritten(by: $0.pack)) ?? $0.pack.length }
        if try space.fits(most.saturatingSum(\.self), in: home) { return }
        var bytes: UInt64 = 0
        for (offer, most) in zip(offers, most) where most > 0 {
            var written = most
            do throws(VaultError) {
                written = try await cost(of: offer)?.written ?? most
            } catch {
                if Task.isCancelled { throw error }
            }
            bytes.saturatingAdd(min(written, most))
        }
        try await space.make(for: bytes, of: first.pack.id, in: home)
    }

    /// Nothing where it is ready already. One that waits is freed while it is opened, if disk space is short.
    private func mostWritten(by pack: PackManifest) throws(VaultError) -> UInt64 {
        let record = try store.records.record(of: pack.id)
        if record.ready?.version.pack.sha256 == pack.sha256 { return 0 }
        guard keys != nil, form(for: record) == .opened else { return pack.length }
        guard let waiting = try store.waiting(pack.id).open(pack),
            let file = try? PackFile(waiting, as: pack),
            let sealed = try installer.freeable(file, of: pack)
        else { return pack.installedSize }
        return try sealed.room(for: pack.installedSize)
    }
}
