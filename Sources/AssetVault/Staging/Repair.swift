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
            let check = try await PackFile(opening: path, as: loaded.pack).check()
            return !check.damagedPieces.isEmpty || !check.isCatalogSound
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
        let whole = try await download.complete(file.claim()) { count in
            observer(.progress(pack.id, bytes: count, total: pack.length))
        }
        return try await staging.replaceLive(pack, by: whole)
    }
}

extension PackStaging {
    /// Puts the same bytes, sound again, in the place of the live version.
    fileprivate func replaceLive(_ pack: PackDescriptor, by whole: OpenFileReference)
        async throws(VaultError) -> Bool
    {
        let version = layout.version(pack, as: .sealed)
        // A name that recovery knows as nobody's.
        let mended = FilePath(version.string + ".mended")
        if try FileSystem.exists(mended) { try FileSystem.unlink(mended) }
        let arrival = try arrival(of: whole, of: pack, at: mended)
        let control = try await lock()
        try arrive(arrival, of: pack, at: mended)
        let live = try records.record(of: pack.id).loaded
        let isLive = live?.pack.sha256 == pack.sha256 && live?.form == .sealed
        if isLive {
            try FileSystem.move(mended, to: version, replacing: true)
            try Folder(opening: layout.home(of: pack.id)).synchronize()
        } else {
            try FileSystem.unlink(mended)
        }
        _ = consume control
        return isLive
    }
}
