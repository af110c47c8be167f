import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// What goes away: it loses its final name first, so that nothing half-removed ever has one.
extension PackStaging {
    /// Takes a pack out of the store. It stays away until it is asked for again. A version that somebody reads goes away
    /// when it is free.
    func remove(_ id: PackID) async throws(VaultError) {
        try await recover()
        let work = try beginWork()
        let control = try await lock()
        try takeOut(id)
        _ = consume control
        _ = consume work
    }

    /// The same, under the lock, by somebody whose work is marked.
    func takeOut(_ id: PackID) throws(VaultError) {
        // A record that can't be read would only keep the pack from being removed.
        var record = (try? records.record(of: id)) ?? (try? settled(nil, of: id)) ?? PackRecord()
        record.form = record.form ?? record.loaded?.form
        record.isRemoved = true
        do throws(VaultError) { try records.save(record, of: id) } catch {
            // On a full disk what goes away makes the room; the record is saved at the end.
            guard error.isOfStorage else { throw error }
        }
        StagingStep.removalRecorded.reached()
        // What is left of an attempt to open it must not keep it here.
        try? removeAbandonedScratch(of: id)
        try finishRemoval(of: id, record)
    }

    /// Removes all that is left of a pack, as far as it is free.
    func finishRemoval(of id: PackID, _ saved: PackRecord) throws(VaultError) {
        let path = layout.home(of: id)
        let isOurs = role == .app
        if isOurs, try FileSystem.exists(path) {
            let home = try Folder(opening: path)
            if try home.status(of: "current") != nil {
                try home.unlink("current")
                try home.synchronize()
            }
        }
        StagingStep.linkRemoved.reached()
        if isOurs {
            if try FileSystem.exists(path) {
                try removeVersions(of: id, in: try Folder(opening: path), except: nil)
            } else {
                try noteHeld(false, of: id)
            }
        }
        StagingStep.versionsRemoved.reached()
        try removeWaiting(of: id, except: [])
        StagingStep.waitingRemoved.reached()
        // A record that can't be read may name another one: that goes away with what nobody waits for.
        for arriving in (try? records.arriving(of: id)) ?? [] { try discardDownload(of: arriving) }
        if let arriving = saved.arriving { try discardDownload(of: arriving) }
        var record = PackRecord()
        record.generation = saved.generation
        record.listing = saved.listing
        record.form = saved.form
        record.isRemoved = true
        // Recovery has forgotten already what is gone: what counts is what the disk still says.
        if record != (try? records.record(of: id)) { try records.save(record, of: id) }
    }

    /// Removes the download of a pack and the mark of an app that waited for it, unless a process works on them.
    func discardDownload(of pack: PackManifest) throws(VaultError) {
        for path in layout.downloads(of: pack) + [layout.foregroundMark(of: pack)]
        where try FileSystem.exists(path) {
            try discardIfFree(path)
        }
    }

    /// Removes downloads that no pack waits for.
    func clearEphemeral() async throws(VaultError) {
        try layout.makeEphemeral()
        let folder = try Folder(opening: layout.ephemeral)
        try folder.removeAbandonedScratch()
        guard try !folder.names().isEmpty else { return }
        let control = try await lock()
        var arriving: Set<String> = []
        for id in try records.allIDs() {
            // One that can't be read now may be about any of them. A damaged one is made anew.
            if (try? records.record(of: id)) == nil { try? settle(id) }
            guard let packs = try? records.arriving(of: id) else { return }
            // What is in use by now was brought by another process, while the one that recorded it stood still.
            let own = try? records.record(of: id)
            for pack in packs
            where pack.sha256 != own?.loaded?.pack.sha256 || pack.sha256 == own?.arriving?.sha256 {
                arriving.insert(pack.sha256.hex)
            }
        }
        for name in try folder.names() {
            let text = String(decoding: name, as: UTF8.self)
            guard let digest = StoreLayout.digest(inDownload: text), !arriving.contains(digest) else {
                continue
            }
            // What can't be removed costs room, and nothing else.
            try? discardIfFree(layout.ephemeral.appending(text))
        }
        _ = consume control
    }

    private func discardIfFree(_ path: FilePath) throws(VaultError) {
        guard let file = try? EphemeralName.lockableFile(path), try file.tryLock(exclusive: true),
            try FileSystem.status(of: path)?.isSameFile(as: file.status()) == true
        else { return }
        try FileSystem.unlink(path)
    }

    /// Packs that wait for their key, but for the one that this role's record names, and one that the other role may have
    /// brought since.
    func removeWaiting(of id: PackID, beside record: PackRecord) throws(VaultError) {
        // Where the other role's record can't be read, nothing says that a file is of no use.
        guard let other = try? records.record(of: id, in: role == .app ? .downloader : .app) else { return }
        var kept = record.waiting.map { [$0] } ?? []
        if role == .app {
            let isNew = other.listing >= record.listing
            // A downloader that died may have named what was arriving before it recorded that.
            for brought in [isNew ? other.waiting : nil, other.arriving].compactMap(\.self)
            where brought.sha256 != record.loaded?.pack.sha256 {
                kept.append(brought)
            }
        }
        try removeWaiting(of: id, except: kept)
    }

    /// Removes what waits beside packs that are loaded just as the site lists them now: older versions that somebody put
    /// there again, or that were brought for nothing.
    func removeSuperseded(by offers: [OfferedPack]) async throws(VaultError) {
        let waiting = Set(try records.waitingIDs())
        let superseding = offers.filter { waiting.contains($0.pack.id) }
        guard !superseding.isEmpty else { return }
        let control = try await lock()
        defer { withExtendedLifetime(control) {} }
        for offer in superseding {
            guard let record = try? records.record(of: offer.pack.id), let form = record.loaded?.form,
                record.isLoaded(offer.pack, as: form, listedBy: offer.version)
            else { continue }
            try removeWaiting(of: offer.pack.id, except: [])
        }
    }

    /// Packs that wait for their key, but for some.
    private func removeWaiting(of id: PackID, except kept: [PackManifest]) throws(VaultError) {
        let keptPaths = kept.map(layout.waitingPack).flatMap { [$0, PackManifestFile.path(beside: $0)] }
        try tidyWaiting(of: id) { folder throws(VaultError) in
            try removeOurs(in: folder, except: keptPaths.compactMap(\.lastComponent?.string))
        }
    }

    /// Removes entries of the folder where a pack waits. What another user's folder doesn't let go costs room, and nothing
    /// else.
    func tidyWaiting(of id: PackID, _ remove: (borrowing Folder) throws(VaultError) -> Void)
        throws(VaultError)
    {
        guard let folder = try layout.openFolder(layout.waiting(of: id), in: layout.shared) else { return }
        do throws(VaultError) { try remove(folder) } catch {
            guard try !folder.status().isOfThisUser else { throw error }
        }
    }

    /// Removes what is named with an `@`; other names are those of packs below this one.
    func removeOurs(in folder: borrowing Folder, except kept: [String]) throws(VaultError) {
        for name in try folder.names()
        where name.first == UInt8(ascii: "@") && !kept.contains(where: { $0.utf8.elementsEqual(name) }) {
            try folder.discard(name)
        }
    }
}
