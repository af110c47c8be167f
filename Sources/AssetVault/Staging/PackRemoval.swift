import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Removes packs. Each file or tree loses its final name first, so that nothing half-removed ever has one.
struct PackRemoval: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }
    private var records: PackRecords { store.records }

    /// Removes a pack until it is asked for again. A version that a reader holds is removed when it is free.
    func remove(_ id: PackID) async throws(VaultError) {
        try await store.recovery.recover()
        let workMark = try store.recovery.beginWork()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in try remove(locked: id) }
    }

    /// The same, under the lock, by a process whose work is marked.
    ///
    /// - Parameters:
    ///   - isPurge: a variant that another one replaced on this device comes back when the device needs it again.
    ///   - returnsIfListed: the pack comes back without being asked for, as such a variant, if the site lists it again.
    func remove(
        locked id: PackID, isPurge: Bool = false, returnsIfListed: Bool = false
    ) throws(VaultError) {
        // A record that can't be read would only keep the pack from being removed.
        var record =
            (try? records.record(of: id)) ?? (try? store.journal.reconciled(nil, of: id))
            ?? PackRecord()
        record.chosenForm = record.chosenForm ?? record.loaded?.form
        record.isRemoved = true
        if !isPurge { record.isReplacedVariant = false }
        if returnsIfListed { record.isReplacedVariant = true }
        do throws(VaultError) { try records.save(record, of: id) } catch {
            // On a full disk the removal makes the space; the record is saved at the end.
            guard error.isStorageFailure else { throw error }
        }
        StagingStep.removalRecorded.reached()
        // The remains of an attempt to open it must not keep it in the store.
        try? store.recovery.removeAbandonedScratch(of: id)
        try finishRemoval(of: id, record)
    }

    /// Removes the files of a pack that the site now lists under another ID. The pack is downloaded again, without a request, if
    /// the site lists this ID again.
    func removeSuperseded(_ id: PackID) async throws(VaultError) {
        let workMark = try store.recovery.beginWork()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in
            var record = try store.recovery.recover(locked: id)
            guard !record.isRemoved else { return }
            let waits = try !store.waiting(id).digests().isEmpty
            guard waits || record.loaded != nil || record.arriving != nil else { return }
            record.isReplacedVariant = true
            try records.save(record, of: id)
            try remove(locked: id, isPurge: true)
        }
    }

    /// Removes all that is left of a pack, as far as no reader holds it.
    func finishRemoval(of id: PackID, _ saved: PackRecord) throws(VaultError) {
        if role == .app {
            try VersionSwitch.leaveOut(id, in: layout)
            try VersionFolder(of: id, in: layout)?.deactivate()
        }
        StagingStep.linkRemoved.reached()
        if role == .app { try removeVersions(of: id, except: [], arriving: nil) }
        StagingStep.versionsRemoved.reached()
        try store.waiting(id).remove(except: [])
        StagingStep.waitingRemoved.reached()
        // A record that can't be read may name another download: `removeUnneededDownloads` finds that one.
        let arriving = ((try? records.arriving(of: id)) ?? []) + [saved.arriving].compactMap(\.self)
        for pack in arriving { try discardDownload(of: pack) }
        var record = PackRecord()
        record.generation = saved.generation
        record.listing = saved.listing
        record.chosenForm = saved.chosenForm
        record.isRemoved = !saved.isReplacedVariant
        // Recovery has already dropped missing files from its record, so the record on the disk is compared.
        if record != (try? records.record(of: id)) { try records.save(record, of: id) }
    }

    /// Removes all versions but some, and those that a reader holds: a later command removes these.
    ///
    /// - Parameter arriving: the pack that is being downloaded: its tree stays.
    func removeVersions(of id: PackID, except wanted: [PackRecord.Loaded], arriving: PackManifest?)
        throws(VaultError)
    {
        guard let versions = try VersionFolder(of: id, in: layout) else {
            return try HeldVersions(layout: layout).set(false, of: id)
        }
        try versions.removeVersions(except: wanted, arriving: arriving)
    }

    /// Removes waiting versions of packs that are live as the site lists them: older versions that another user put there again, or
    /// that a downloader need not have brought.
    func removeSuperseded(by offers: [LocatedPack]) async throws(VaultError) {
        let waitingIDs = Set(try records.waitingIDs())
        let superseding = offers.filter { waitingIDs.contains($0.pack.id) }
        guard !superseding.isEmpty else { return }
        try await store.withLock { () throws(VaultError) in
            for offer in superseding {
                guard let record = try? records.record(of: offer.pack.id),
                    let form = record.loaded?.form,
                    record.isLoaded(offer.pack, as: form, listedBy: offer.listing)
                else { continue }
                try store.waiting(offer.pack.id).remove(except: [])
            }
        }
    }

    /// Removes versions that are complete and not live, of packs that the site no longer lists: these do not become live any more.
    func removeWithdrawn(by view: SiteView) async throws(VaultError) {
        var withdrawn: [PackID] = []
        for id in try records.ids() where (try? records.record(of: id))?.ready != nil {
            // Of a role that can't be read it is not known what it lists.
            if let isListed = try? await view.lists(id), !isListed { withdrawn.append(id) }
        }
        guard !withdrawn.isEmpty else { return }
        let workMark = try store.recovery.beginWork()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in
            for id in withdrawn {
                var record = try store.journal.reconciled(try records.record(of: id), of: id)
                guard record.ready != nil, record.accepts(view.version) else { continue }
                (record.ready, record.listing) = (nil, view.version)
                try records.save(record, of: id)
                try removeVersions(of: id, except: record.versions, arriving: record.arriving)
            }
        }
    }

    /// Removes the download of a pack and the mark of an app that waited for it, unless a process works on them.
    func discardDownload(of pack: PackManifest) throws(VaultError) {
        for path in layout.downloads(of: pack) + [layout.foregroundMark(of: pack)]
        where try FileSystem.exists(path) {
            try discardIfFree(path)
        }
        if role == .app { try ArrivingTree.discard(pack, in: layout) }
    }

    /// Removes downloads that no pack waits for, and the marks of apps that no longer do.
    func removeUnneededDownloads() async throws(VaultError) {
        try layout.makeEphemeral()
        let folder = try Folder(opening: layout.ephemeral)
        try folder.removeAbandonedScratch()
        guard try !folder.names(upTo: 1).names.isEmpty else { return }
        try await store.withLock { () throws(VaultError) in
            let needed = try neededDownloads()
            for text in try layout.ephemeralArea.names(in: layout.ephemeral) {
                guard let digest = StoreLayout.digest(inDownload: text) else { continue }
                // A mark counts only while its process has it locked.
                let isMark = text.hasSuffix(StoreLayout.markSuffix)
                guard isMark || needed?.contains(digest) == false else { continue }
                // A file that can't be removed costs disk space, and nothing else.
                try? discardIfFree(layout.ephemeral.appending(text))
            }
        }
    }

    /// The digests of the packs that are arriving; nil where a record can't be read, since it may name any of them.
    private func neededDownloads() throws(VaultError) -> Set<String>? {
        var needed: Set<String> = []
        var budget = StoreArea.Budget()
        for id in try records.allIDs() {
            // A damaged record is made anew.
            if (try? records.record(of: id)) == nil { _ = try? store.recovery.recover(locked: id) }
            let own = try? records.record(of: id)
            for role in StoreRole.allCases {
                guard let record = try? records.record(of: id, in: role, within: &budget) else { return nil }
                guard let pack = record.arriving else { continue }
                // Another process installed it or a newer version, while the one that recorded the download was stopped.
                let isInstalled = pack.sha256 == own?.loaded?.pack.sha256
                let isSuperseded = own.map { $0.loaded != nil && record.listing < $0.listing } ?? false
                guard pack.sha256 == own?.arriving?.sha256 || !(isInstalled || isSuperseded) else { continue }
                needed.insert(pack.sha256.hex)
            }
        }
        return needed
    }

    private func discardIfFree(_ path: FilePath) throws(VaultError) {
        guard let file = try? EphemeralName.lockableFile(path), try file.tryLock(exclusive: true),
            try FileSystem.status(of: path)?.isSameFile(as: file.status()) == true
        else { return }
        try FileSystem.removeFile(path)
    }
}
