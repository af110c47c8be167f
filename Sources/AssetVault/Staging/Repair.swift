import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// A loaded pack is verified byte by byte, sealed without any key and opened with its own, and repaired piece by piece.
extension PackStager {
    /// Why the live version of a pack is no longer what it was; nil where it is sound. Throws `.key` for an opened one whose
    /// key is not here.
    func damage(to loaded: PackRecord.Loaded) async throws(VaultError) -> VaultError? {
        let path = staging.layout.version(loaded.pack, as: loaded.form)
        do throws(VaultError) {
            switch loaded.form {
            case .sealed:
                observer(.verifying(loaded.pack.id))
                if try await PackFile(opening: path, as: loaded.pack).check().isSound { return nil }
                return VaultError(
                    .corrupt, "pieces of it are damaged", at: loaded.pack.id.description, remedy: "repair it")
            case .opened:
                let key = try await contentKey(of: loaded.pack)
                observer(.verifying(loaded.pack.id))
                let tail = try PackFile(opening: staging.layout.tail(of: loaded.pack), as: loaded.pack)
                try await OpenedTree(path, openedFrom: tail, key: key).requireSound()
                return nil
            }
        } catch {
            // A disk that gives a sector back no more says `.io`.
            guard [.corrupt, .missing, .io].contains(error.category), !Task.isCancelled else { throw error }
            return VaultError(
                .corrupt, "\(error.place): \(error.problem)", at: loaded.pack.id.description,
                remedy: "repair it")
        }
    }

    /// Verifies a version that looks otherwise than when it was staged, and repairs it if need be. Without its key an opened
    /// one stays as it is.
    func repairChanged(_ loaded: PackRecord.Loaded, as offer: OfferedPack) async throws(VaultError) {
        do throws(VaultError) {
            if try await damage(to: loaded) != nil {
                _ = try await repair(offer, as: loaded.form)
            } else {
                try await staging.recordFingerprint(of: loaded)
            }
        } catch {
            guard error.category == .key, loaded.form == .opened else { throw error }
            observer(
                .awaitingKey(
                    loaded.pack.id,
                    VaultError(
                        .key, "its files were changed, and its key, which alone can verify them, is not here",
                        at: loaded.pack.id.description, remedy: "give its key")))
        }
    }

    private func contentKey(of pack: PackManifest) async throws(VaultError) -> ContentKey {
        guard case .app(let keys?, _) = role else {
            throw VaultError(
                .key, "it is opened, and only its key can verify its files", at: pack.id.description,
                remedy: "give a key provider")
        }
        return try await keys.contentKey(pack.contentKeyID, slots: pack.slots, place: pack.id.description)
    }

    /// Fetches what is damaged of the live version, which stays until the whole one takes its name. False when it is not
    /// live any more by then.
    func repair(_ offer: OfferedPack, as form: PackForm) async throws(VaultError) -> Bool {
        let pack = offer.pack
        let layout = staging.layout
        let file = DownloadFile(layout: layout, pack: pack)
        let part = layout.partialDownload(of: pack)
        var download = try await beginDownload(of: offer, to: file)
        if form == .sealed, try !FileSystem.exists(part) {
            // Where not even that can be read, all of it is fetched.
            let damaged = layout.version(pack, as: .sealed)
            try? FileMove.copy(damaged, of: pack.length, to: part, permissions: 0o600) { _ in }
        }
        let progress = DownloadProgress(of: pack, observer)
        let whole = try await download.complete(file.claim()) { progress.report($0) }
        let isLive = try await replace(pack, as: form, by: whole)
        if isLive { try await staging.recordFingerprint(of: PackRecord.Loaded(pack: pack, form: form)) }
        return isLive
    }

    private func replace(_ pack: PackManifest, as form: PackForm, by whole: OpenFileReference)
        async throws(VaultError) -> Bool
    {
        switch form {
        case .sealed: return try await staging.replaceLive(pack, by: whole)
        case .opened:
            let source = try OpenPack(
                try PackFile(whole, as: pack, named: pack.id.description), key: try await contentKey(of: pack)
            )
            let isLive = try await staging.replaceLiveTree(pack, by: source) { done in
                observer(.opening(pack.id, bytes: done, total: pack.openedSize))
            }
            try FileSystem.unlink(whole.file.path)
            return isLive
        }
    }
}

extension PackStaging {
    /// Writes the manifest beside the live version once more where it is damaged; true where it was.
    func repairManifest(of id: PackID) async throws(VaultError) -> Bool {
        let control = try await lock()
        var isRepaired = false
        if let loaded = try settled(try records.soundRecord(of: id), of: id).loaded {
            isRepaired = try repairManifest(of: loaded)
        }
        _ = consume control
        return isRepaired
    }

    /// Puts the same bytes, sound again, in the place of the live version; false where it is live no more. Whoever reads
    /// the damaged one keeps it, under a name beside it.
    fileprivate func replaceLive(_ pack: PackManifest, by whole: OpenFileReference)
        async throws(VaultError) -> Bool
    {
        // A name that recovery knows as nobody's.
        let repaired = FilePath(layout.version(pack, as: .sealed).string + ".repaired")
        try FileSystem.removeTree(repaired)
        let home = try Folder(opening: layout.home(of: pack.id))
        var arrival = try arrival(of: whole, of: pack, at: repaired)
        let control = try await lock()
        guard let live = try records.record(of: pack.id).loaded, live.pack.sha256 == pack.sha256,
            live.form == .sealed, let name = VersionName(layout.versionName(of: pack, as: .sealed))
        else { return false }
        let version = home.path.appending(name.text)
        func swap() throws(VaultError) {
            try arrive(arrival.take(), of: pack, at: repaired)
            try FileSystem.move(repaired, to: version, replacing: true)
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

    /// The same for an opened tree: the sound one is built aside, and both take each other's name.
    fileprivate func replaceLiveTree(
        _ pack: PackManifest, by source: OpenPack, progress: (UInt64) -> Void
    ) async throws(VaultError) -> Bool {
        let path = layout.home(of: pack.id)
        try await makeSpace(for: pack.installedSize, of: pack.id, in: path)
        let tree = try ScratchFolder(in: path)
        let tail = try ScratchFile(for: layout.tail(of: pack))
        try source.pack.writeTail(to: tail.file)
        try await source.extract(into: tree.folder, progress: progress)
        try tree.folder.synchronizeFileSystem()
        let home = try Folder(opening: path)
        let control = try await lock()
        guard let live = try records.record(of: pack.id).loaded, live.pack.sha256 == pack.sha256,
            live.form == .opened, let name = VersionName(layout.versionName(of: pack, as: .opened))
        else { return false }
        if try isHeld(name.damaged, in: home) { throw isRead(pack) }
        try home.discardTree(name.damaged)
        let isFree = try whileFree(name, in: home) {}
        if !isFree { try noteHeld(true, of: pack.id) }
        try tail.commit(permissions: 0o644, replacing: true)
        // From here on the sound tree has the name that recovery knows as nobody's, and then the version's.
        try tree.commit(
            to: path.appending(name.damaged), permissions: Umask.current.applied(to: 0o755))
        if try home.status(of: name.text) == nil {
            try home.rename(name.damaged, to: home, as: name.text, replacing: false)
        } else {
            try home.exchange(name.text, with: name.damaged)
        }
        try home.synchronize()
        if isFree { try home.discardTree(name.damaged) }
        _ = consume control
        return true
    }

    /// The damaged file gets a name of its own. A repair that was cut off may have done that already.
    private func leaveToReaders(_ name: VersionName, of pack: PackManifest, in home: borrowing Folder)
        throws(VaultError)
    {
        if let left = try home.status(of: name.damaged) {
            if try home.status(of: name.text)?.isSameFile(as: left) == true { return }
            if try isHeld(name.damaged, in: home) { throw isRead(pack) }
            try home.discardTree(name.damaged)
        }
        try home.link(name.text, as: name.damaged)
    }

    private func isRead(_ pack: PackManifest) -> VaultError {
        VaultError(
            .busy, "somebody still reads what was damaged the last time", at: pack.id.description,
            remedy: "end who reads it, and repair the pack again")
    }
}
