import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Where packs really stand, whatever became of the process that was at them. Nothing is changed by looking.
extension PackStaging {
    /// What each pack's record would be after a recovery, and what downloaders brought since. One that the disk doesn't let
    /// look at has failed with that.
    func survey() async throws(VaultError) -> [(id: PackID, record: PackRecord)] {
        let control = try await lockWhatExists()
        var found: [(id: PackID, record: PackRecord)] = []
        for id in try records.allIDs() {
            do throws(VaultError) { found.append((id, try surveyed(id))) } catch {
                var record = PackRecord()
                record.failure = PackFailure(looking: error)
                found.append((id, record))
            }
        }
        _ = consume control
        return found
    }

    /// The same for one pack.
    func survey(_ id: PackID) async throws(VaultError) -> PackRecord {
        let control = try await lockWhatExists()
        let record = try surveyed(id)
        _ = consume control
        return record
    }

    private func surveyed(_ id: PackID) throws(VaultError) -> PackRecord {
        var record = try settled(try records.soundRecord(of: id), of: id)
        guard role == .app, !record.isRemoved else { return record }
        // What a downloader brought is shown, and believed by nothing that is done.
        if let waiting = record.waiting, try !seemsToBeThere(waiting) { record.waiting = nil }
        if record.waiting == nil,
            let brought = (try? described(in: layout.waiting(of: id), of: id)) ?? nil,
            record.loaded.map({ $0.pack.version < brought.version }) ?? true
        {
            record.waiting = brought
        }
        if record.arriving == nil, let other = try? records.record(of: id, in: .downloader),
            let arriving = other.arriving,
            ![record.loaded?.pack.sha256, record.waiting?.sha256].contains(arriving.sha256)
        {
            record.arriving = arriving
            record.failure = record.failure ?? other.failure
        }
        return record
    }

    /// A pack's record, corrected by what is really there; made of that alone where the record can't be read.
    func settled(_ saved: PackRecord?, of id: PackID) throws(VaultError) -> PackRecord {
        var record = saved ?? PackRecord()
        // A manifest that others may have written is no reason for the app to believe that its pack is wanted.
        if saved == nil, role == .downloader {
            record.waiting = try described(in: layout.waiting(of: id), of: id)
        }
        if let arriving = record.arriving, try isWhole(arriving) {
            // Whatever failed on its way there is made up for.
            (record.waiting, record.arriving, record.failure) = (arriving, nil, nil)
        }
        if let waiting = record.waiting, try !isWhole(waiting) { record.waiting = nil }
        if role == .app { record.loaded = try current(of: id, recorded: record.loaded) }
        record.form = record.form ?? record.loaded?.form
        if let loaded = record.loaded {
            // Nothing says that it is to replace what is in use; at worst it is downloaded once more.
            if saved == nil, let waiting = record.waiting, waiting.version <= loaded.pack.version {
                record.waiting = nil
            }
            // It waited and is in use now: whatever failed after that is being made up for.
            if loaded.pack.sha256 == saved?.waiting?.sha256 { record.failure = nil }
            if loaded.pack.sha256 == record.waiting?.sha256 { record.waiting = nil }
            // Unless it comes to stand in another form.
            if loaded.pack.sha256 == record.arriving?.sha256, record.form == loaded.form {
                record.arriving = nil
            }
        }
        if role == .app, record.isOpening, try !isBeingOpened(id) { record.isOpening = false }
        return record
    }

    /// The newest pack in a folder that is there with its manifest.
    private func described(in folder: FilePath, of id: PackID) throws(VaultError) -> PackManifest? {
        guard let opened = try layout.openFolder(folder, in: layout.shared) else { return nil }
        var newest: PackManifest?
        for name in try opened.names().map({ String(decoding: $0, as: UTF8.self) })
        where name.hasSuffix(".avpack.json") {
            let path = folder.appending(name)
            let pack: PackManifest
            do throws(VaultError) { pack = try PackManifestFile.read(path) } catch {
                // What only can't be read now is there all the same, and is not to be tidied away.
                guard error.category != .io else { throw error }
                continue
            }
            let place = layout.waitingPack(pack)
            guard pack.id == id, PackManifestFile.path(beside: place) == path,
                try layout.seemsToWait(pack),
                newest.map({ $0.version < pack.version }) ?? true
            else { continue }
            newest = pack
        }
        return newest
    }

    /// Whoever opens a pack has a scratch folder in its home, locked.
    private func isBeingOpened(_ id: PackID) throws(VaultError) -> Bool {
        guard try FileSystem.exists(layout.home(of: id)) else { return false }
        return try Folder(opening: layout.home(of: id)).holdsLivingScratch()
    }

    /// What `current` points to, by the manifest beside it, or by the record where that is damaged; nil when it points to
    /// nothing, or nothing says to what.
    private func current(of id: PackID, recorded: PackRecord.Loaded?) throws(VaultError) -> PackRecord.Loaded?
    {
        guard try FileSystem.exists(layout.home(of: id)) else { return nil }
        let home = try Folder(opening: layout.home(of: id))
        guard let name = try linkedName(in: home) else { return nil }
        do throws(VaultError) {
            let pack = try PackManifestFile.read(beside: layout.home(of: id).appending(name))
            let loaded = PackRecord.Loaded(pack: pack, form: name.hasSuffix(".avpack") ? .sealed : .opened)
            if isNamed(loaded, name, id) { return loaded }
        } catch {
            // What only can't be read now is there all the same, and is not to be tidied away.
            guard error.category != .io || recorded.map({ isNamed($0, name, id) }) == true else {
                throw error
            }
        }
        return recorded.flatMap { isNamed($0, name, id) ? $0 : nil }
    }

    /// The version that `current` leads to, if it is there.
    private func linkedName(in home: borrowing Folder) throws(VaultError) -> String? {
        do throws(VaultError) {
            guard let name = try home.readLink("current")?.lastComponent?.string else { return nil }
            return try home.status(of: name) == nil ? nil : name
        } catch {
            guard error.category != .io else { throw error }
            return nil
        }
    }

    private func isNamed(_ loaded: PackRecord.Loaded, _ name: String, _ id: PackID) -> Bool {
        loaded.pack.id == id && layout.versionName(of: loaded.pack, as: loaded.form) == name
    }

    /// Whether all of a pack is there, not live: what was cut off goes on as if it waited. What somebody holds was live once
    /// and is to go away.
    private func isWhole(_ pack: PackManifest) throws(VaultError) -> Bool {
        if try layout.waitingStatus(of: pack) != nil { return true }
        return try isNamed(pack)
    }

    /// The same for a look, which finds a file that is cut short.
    private func seemsToBeThere(_ pack: PackManifest) throws(VaultError) -> Bool {
        if try layout.seemsToWait(pack) { return true }
        return try isNamed(pack)
    }

    /// Whether it stands sealed in permanent storage, and nobody holds it.
    private func isNamed(_ pack: PackManifest) throws(VaultError) -> Bool {
        guard role == .app, try FileSystem.exists(layout.version(pack, as: .sealed)) else { return false }
        let version = PackRecord.Loaded(pack: pack, form: .sealed)
        return try isFree(version, in: try Folder(opening: layout.home(of: pack.id)))
    }
}
