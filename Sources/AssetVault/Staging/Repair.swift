import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A pack that is kept sealed can be looked at byte by byte without any key, and mended piece by piece.
extension PackStager {
    /// Whether the live version of a pack is kept sealed and is no longer what it was.
    func isDamaged(_ loaded: PackRecord.Loaded) async throws(VaultError) -> Bool {
        guard loaded.form == .sealed else { return false }
        observer(.verifying(loaded.pack.id))
        do throws(VaultError) {
            let path = staging.layout.version(loaded.pack, as: .sealed)
            return try await !PackFile(opening: path, as: loaded.pack).check().isSound
        } catch {
            // A disk that gives a sector back no more says `.io`.
            guard [.corrupt, .missing, .io].contains(error.category), !Task.isCancelled else { throw error }
            return true
        }
    }

    /// Fetches what is damaged of the live version, which stays until the whole one takes its name. False when it is not
    /// live any more by then.
    func repair(_ offer: OfferedPack) async throws(VaultError) -> Bool {
        let pack = offer.pack
        let layout = staging.layout
        let file = DownloadFile(layout: layout, pack: pack)
        let part = layout.partialDownload(of: pack)
        var download = try await beginDownload(of: offer, to: file)
        if try !FileSystem.exists(part) {
            // Where not even that can be read, all of it is fetched.
            let damaged = layout.version(pack, as: .sealed)
            try? FileMove.copy(damaged, of: pack.length, to: part, permissions: 0o600) { _ in }
        }
        let progress = DownloadProgress(of: pack, observer)
        let whole = try await download.complete(file.claim()) { progress.tell($0) }
        return try await staging.replaceLive(pack, by: whole)
    }
}

extension PackStaging {
    /// Writes the descriptor beside the live version once more where it is damaged; true where it was.
    func mendDescriptor(of id: PackID) async throws(VaultError) -> Bool {
        let control = try await lock()
        var isMended = false
        if let loaded = try settled(try records.soundRecord(of: id), of: id).loaded {
            isMended = try mendDescriptor(of: loaded)
        }
        _ = consume control
        return isMended
    }

    /// Puts the same bytes, sound again, in the place of the live version; false where it is live no more. Whoever reads
    /// the damaged one keeps it, under a name beside it.
    fileprivate func replaceLive(_ pack: PackDescriptor, by whole: OpenFileReference)
        async throws(VaultError) -> Bool
    {
        // A name that recovery knows as nobody's.
        let mended = FilePath(layout.version(pack, as: .sealed).string + ".mended")
        try FileSystem.removeTree(mended)
        let home = try Folder(opening: layout.home(of: pack.id))
        var arrival = try arrival(of: whole, of: pack, at: mended)
        let control = try await lock()
        guard let live = try records.record(of: pack.id).loaded, live.pack.sha256 == pack.sha256,
            live.form == .sealed, let name = VersionName(layout.versionName(of: pack, as: .sealed))
        else { return false }
        let version = home.path.appending(name.text)
        func swap() throws(VaultError) {
            try arrive(arrival.take(), of: pack, at: mended)
            try FileSystem.move(mended, to: version, replacing: true)
        }
        if try !whileFree(name, in: home, swap) {
            try noteHeld(true, of: pack.id)
            try leaveToReaders(name, of: pack, in: home)
            try swap()
        }
        try home.synchronize()
        _ = consume control
        return true
    }

    /// The damaged file gets a name of its own. A repair that was cut off may have done that already.
    private func leaveToReaders(_ name: VersionName, of pack: PackDescriptor, in home: borrowing Folder)
        throws(VaultError)
    {
        if let left = try home.status(of: name.damaged) {
            if try home.status(of: name.text)?.isSameFile(as: left) == true { return }
            if try isHeld(name.damaged, in: home) { throw isRead(pack) }
            try home.discardTree(name.damaged)
        }
        try home.link(name.text, as: name.damaged)
    }

    private func isRead(_ pack: PackDescriptor) -> VaultError {
        VaultError(
            .busy, "somebody still reads what was damaged the last time", at: pack.id.description,
            remedy: "end who reads it, and repair the pack again")
    }
}
