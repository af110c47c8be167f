import SealedPack
import StrictJSON
import SystemPackage
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// The last way of a pack, into permanent storage, and the one swing that makes it live.
extension PackStaging {
    /// To permanent, still sealed.
    func keepSealed(_ file: OpenFileReference, of pack: PackManifest, listedBy listing: ListingVersion)
        async throws(VaultError)
    {
        let target = layout.version(pack, as: .sealed)
        try FileSystem.createFolders(layout.home(of: pack.id), permissions: 0o755)
        if file.file.path != target {
            try await requireSound(pack, as: .sealed) {
                (try? pack.isVerifiedVersion(by: OpenFile(reading: target))) == true
            }
        }
        try await makeSpace(toMove: file, of: pack, to: layout.home(of: pack.id))
        let arrival = try arrival(of: file, of: pack, at: target)
        let control = try await lock()
        if try !FileSystem.exists(target) {
            try saveManifest(of: pack, beside: target)
            StagingStep.manifestSaved.reached()
            try arrive(arrival, of: pack, at: target)
            StagingStep.versionNamed.reached()
        }
        try publish(
            pack, as: .sealed, listedBy: listing,
            look: try? VersionFingerprint.digest(of: target, as: .sealed))
        _ = consume control
    }

    /// To permanent, opened: a tree is built aside, saved to the disk as a whole and renamed.
    func open(
        _ source: OpenPack, of pack: PackManifest, listedBy listing: ListingVersion,
        progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let home = layout.home(of: pack.id)
        try FileSystem.createFolders(home, permissions: 0o755)
        let version = layout.version(pack, as: .opened)
        try await requireSound(pack, as: .opened) { await source.isSame(as: version) }
        guard try !FileSystem.exists(version) else {
            let look = try? VersionFingerprint.digest(of: version, as: .opened)
            let control = try await lock()
            guard try FileSystem.exists(version) else { throw takenByAnotherProcess(pack) }
            try publish(pack, as: .opened, listedBy: listing, look: look)
            _ = consume control
            return
        }
        try await makeSpace(for: pack.installedSize, of: pack.id, in: home)
        let tree = try ScratchFolder(in: home)
        // With it the next version can take pieces from the tree.
        let tail = try ScratchFile(for: layout.tail(of: pack))
        try source.pack.writeTail(to: tail.file)
        try await noteOpening(of: pack, listedBy: listing)
        try await source.extract(into: tree.folder, progress: progress)
        // Saved before the lock is taken: this may last.
        try tree.folder.synchronizeFileSystem()
        let look = try? VersionFingerprint.digest(of: tree.path, as: .opened)
        StagingStep.treeWritten.reached()
        let control = try await lock()
        if try FileSystem.exists(version) {
            _ = consume tree
            _ = consume tail
        } else {
            try saveManifest(of: pack, beside: version)
            StagingStep.manifestSaved.reached()
            try tail.commit(permissions: 0o644, replacing: true)
            StagingStep.tailSaved.reached()
            try tree.commit(to: version, permissions: Umask.current.applied(to: 0o755))
            StagingStep.versionNamed.reached()
        }
        try publish(pack, as: .opened, listedBy: listing, look: look)
        _ = consume control
    }

    /// Notes what newer metadata says of a pack that is loaded already, such as slots for other keys.
    func settle(_ pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        let control = try await lock()
        let form = try records.record(of: pack.id).loaded?.form
        if let form { try publish(pack, as: form, listedBy: listing) }
        _ = consume control
    }

    /// Swings `current` to a complete version, records it and removes what it replaces. A process that was overtaken
    /// by one with newer metadata changes nothing.
    ///
    /// - Parameter look: how the version looks; nil leaves what was noted of it.
    private func publish(
        _ pack: PackManifest, as form: PackForm, listedBy listing: ListingVersion, look: SHA256Digest? = nil
    ) throws(VaultError) {
        let home = try Folder(opening: layout.home(of: pack.id))
        // Whoever was here before may have died before it could say what is live.
        var record = try settled(try records.record(of: pack.id), of: pack.id)
        let isNewest = record.isOpen(to: listing)
        if isNewest {
            // Before anything is seen: whoever has older metadata, or opens what waits, takes nothing back, even if this
            // process dies now.
            let isSuperseding = record.waiting.map { $0.sha256 != pack.sha256 } ?? false
            if record.listing != listing || isSuperseding {
                record.listing = listing
                if isSuperseding { record.waiting = nil }
                try records.save(record, of: pack.id)
            }
            try saveManifest(of: pack, beside: layout.version(pack, as: form))
            let lastUse = LastUse(in: home)
            try home.replaceLink("current", target: FilePath(layout.versionName(of: pack, as: form)))
            lastUse.note(in: home)
            StagingStep.currentSwung.reached()
            record.loaded = PackRecord.Loaded(pack: pack, form: form)
            record.form = record.form ?? form
            record.look = look ?? record.look
            record.waiting = nil
            record.arriving = nil
            record.isOpening = false
            record.failure = nil
        }
        try removeWaiting(of: pack.id, beside: record)
        try removeVersions(of: pack.id, in: home, except: record.loaded)
        // Last: a pack that is recorded as loaded is looked at no more.
        if isNewest { try records.save(record, of: pack.id) }
        StagingStep.publicationRecorded.reached()
        if !isNewest { throw record.isRemoved ? removedMeanwhile(pack.id) : takenByAnotherProcess(pack) }
    }

    /// Writes a manifest that is damaged once more: the record knows it, too. True where it was.
    @discardableResult
    func repairManifest(of loaded: PackRecord.Loaded) throws(VaultError) -> Bool {
        let version = layout.version(loaded.pack, as: loaded.form)
        if (try? PackManifestFile.read(beside: version)) == loaded.pack { return false }
        try saveManifest(of: loaded.pack, beside: version)
        return true
    }

    /// The manifest beside what gets a final name, so that it explains itself.
    func saveManifest(of pack: PackManifest, beside file: FilePath) throws(VaultError) {
        let bytes = manifestBytes(of: pack)
        try DurableFile.write(
            bytes.span, to: PackManifestFile.path(beside: file), permissions: 0o644, replacing: true)
    }

    func manifestBytes(of pack: PackManifest) -> [UInt8] {
        JSONValue.object(pack.json).canonical()
    }
}
