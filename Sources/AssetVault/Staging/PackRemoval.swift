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

    /// Removes a pack. A version that a reader holds is removed when it is free.
    func remove(_ id: PackID, _ reason: PackRemovalReason) async throws(VaultError) {
        let workMark = try store.unfinishedWork.begin()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in try remove(locked: id, reason) }
    }

    /// The same, under the lock, by a process whose work is marked.
    func remove(locked id: PackID, _ reason: PackRemovalReason) throws(VaultError) {
        var change = PackTransaction(removing: id, in: store)
        change.apply(.removalBegan(reason))
        do throws(VaultError) { try change.save() } catch {
            // On a full disk the removal makes the space; the record is saved at the end.
            guard error.isStorageFailure else { throw error }
        }
        StagingStep.removalRecorded.reached()
        // The remains of an attempt to open it must not keep it in the store.
        try? store.unfinishedWork.removeScratch(of: id)
        try finish(&change)
    }

    /// Removes the files of a pack that the site now lists under another ID. The pack is downloaded again, without a request, if
    /// the site lists this ID again.
    func removeSuperseded(_ id: PackID) async throws(VaultError) {
        let workMark = try store.unfinishedWork.begin()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in
            let record = try PackTransaction.following(id, in: store).record
            guard !record.isRemoved else { return }
            let waits = try !store.waiting(id).digests().isEmpty
            guard waits || record.loaded != nil || record.arriving != nil else { return }
            try remove(locked: id, .unlisted)
        }
    }

    /// Removes all that is left of a pack, as far as no reader holds it.
    func finish(_ change: inout PackTransaction) throws(VaultError) {
        let id = change.id
        if role == .app {
            try VersionSwitch.leaveOut(id, in: layout)
            try VersionFolder(of: id, in: layout)?.deactivate()
        }
        StagingStep.linkRemoved.reached()
        if role == .app { try removeVersions(of: id, beside: PackRecord()) }
        StagingStep.versionsRemoved.reached()
        try store.waiting(id).remove(except: [])
        StagingStep.waitingRemoved.reached()
        // A record that can't be read may name another download: `removeUnneededDownloads` finds that one.
        let arriving = ((try? records.arriving(of: id)) ?? []) + [change.record.arriving].compactMap(\.self)
        for pack in arriving { try discardDownload(of: pack) }
        change.apply(.removalEnded)
        try change.save()
    }

    /// Removes all versions but those of the record, the trees of packs that are being downloaded or opened, and what a reader holds: a
    /// later command removes these.
    func removeVersions(of id: PackID, beside record: PackRecord) throws(VaultError) {
        guard let versions = try VersionFolder(of: id, in: layout) else {
            return try HeldVersions(layout: layout).forget(id)
        }
        try versions.removeVersions(beside: record)
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
        let workMark = try store.unfinishedWork.begin()
        defer { withExtendedLifetime(workMark) {} }
        try await store.withLock { () throws(VaultError) in
            for id in withdrawn {
                var change = try PackTransaction.following(id, in: store)
                guard change.record.ready != nil, change.apply(.withdrawn(by: view.version)) else { continue }
                try change.save()
                let record = change.record
                try removeVersions(of: id, beside: record)
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
            if (try? records.record(of: id)) == nil { try? makeAnew(recordOf: id) }
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

    /// A damaged record.
    private func makeAnew(recordOf id: PackID) throws(VaultError) {
        var change = try PackTransaction(locked: id, in: store)
        try change.save()
    }

    private func discardIfFree(_ path: FilePath) throws(VaultError) {
        guard let file = try? EphemeralName.lockableFile(path), try file.tryLock(exclusive: true),
            try file.isStill(at: path)
        else { return }
        try FileSystem.removeFile(path)
    }
}
