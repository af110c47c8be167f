import SealedPack
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite

/// The real state of each pack: its saved record, corrected by the files on the disk. Reading the state writes nothing.
struct PackJournal: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }
    private var records: PackRecords { store.records }

    /// Maximum number of reads of a record while other processes replace it.
    private static let attempts = 16

    /// What the record of each pack of this role would be after a recovery. No lock is taken: each record is replaced as a whole, and
    /// looked at again where that happened meanwhile. A pack whose folders can't be read has failed with that error.
    func states() async throws(VaultError) -> [(id: PackID, record: PackRecord)] {
        var found: [(id: PackID, record: PackRecord)] = []
        for id in try records.ids() {
            do throws(VaultError) { found.append((id, try await state(of: id))) } catch {
                var record = PackRecord()
                record.failure = PackFailure(readingState: error)
                found.append((id, record))
            }
        }
        return found
    }

    /// The same for one pack.
    func state(of id: PackID) async throws(VaultError) -> PackRecord {
        let path = layout.recordPath(of: id, in: role)
        var before = try FileSystem.status(of: path)
        for _ in 0..<Self.attempts {
            let found: Result<PackRecord, VaultError>
            do throws(VaultError) { found = .success(try shownRecord(of: id)) } catch {
                found = .failure(error)
            }
            let after = try FileSystem.status(of: path)
            if before == after { return try found.get() }
            before = after
        }
        return try shownRecord(of: id)
    }

    private func shownRecord(of id: PackID) throws(VaultError) -> PackRecord {
        var record = try reconciled(try records.readableRecord(of: id), of: id)
        guard role == .app, !record.isRemoved else { return record }
        if let waiting = record.waiting, try !hasFileOfFullLength(of: waiting) { record.waiting = nil }
        return record
    }

    /// A pack's record, corrected by what is on the disk; made of that alone where the record can't be read.
    func reconciled(_ saved: PackRecord?, of id: PackID) throws(VaultError) -> PackRecord {
        var record = saved ?? PackRecord()
        // Only a downloader rebuilds a lost record from the waiting files. The app must not: another user may have written them.
        if saved == nil, role == .downloader { record.waiting = try store.waiting(id).newest() }
        let files = try files(of: record, id, isRecordLost: saved == nil)
        return record.after(.found(files)) ?? record
    }

    /// What is on the disk of the versions that a record names. A downloader does not look into permanent storage: what the app
    /// recorded counts.
    private func files(
        of record: PackRecord, _ id: PackID, isRecordLost: Bool
    ) throws(VaultError) -> PackFiles {
        var files = PackFiles(isRecordLost: isRecordLost)
        if let arriving = record.arriving { files.hasArrived = try hasEntry(of: arriving) }
        if let waiting = record.waiting { files.isWaiting = try hasEntry(of: waiting) }
        guard role == .app else {
            files.live = record.loaded
            return files
        }
        if let ready = record.ready?.version {
            files.isReady = try FileSystem.exists(layout.version(ready.pack, as: ready.form))
        }
        files.live = try VersionFolder(of: id, in: layout)?.live(recorded: record.loaded)
        return files
    }

    /// Whether the pack waits, or is kept sealed and not live: staging continues as if it waited. The name is enough, since a pack
    /// gets it only when it is complete, and its bytes are verified before they are used. A version that a reader holds was live
    /// once, and is to be removed.
    private func hasEntry(of pack: PackManifest) throws(VaultError) -> Bool {
        if try store.waiting(pack.id).status(of: pack) != nil { return true }
        return try isKeptSealed(pack)
    }

    /// For display only: also checks the file's length, so that a truncated file is not shown as present.
    private func hasFileOfFullLength(of pack: PackManifest) throws(VaultError) -> Bool {
        if try store.waiting(pack.id).seemsToHold(pack) { return true }
        return try isKeptSealed(pack)
    }

    /// Whether what is ready looks as it did when it was staged.
    func isUnchanged(_ ready: PackRecord.Ready) -> Bool {
        let version = layout.version(ready.version.pack, as: ready.version.form)
        guard let fingerprint = ready.fingerprint else { return false }
        return (try? VersionFingerprint.digest(of: version, as: ready.version.form)) == fingerprint
    }

    /// Whether it is sealed in permanent storage, and no reader holds it.
    private func isKeptSealed(_ pack: PackManifest) throws(VaultError) -> Bool {
        guard role == .app, try layout.isKeptSealed(pack) else { return false }
        let version = PackRecord.Loaded(pack: pack, form: .sealed)
        return try VersionFolder(of: pack.id, in: layout)?.isFree(version) ?? false
    }
}

extension PackJournal {
    /// A download begins: other processes see what is on its way.
    func recordDownload(of pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        if try !store.records.record(of: pack.id).hasBegun(pack, listedBy: listing) {
            try await store.record(.downloadBegan(pack, listedBy: listing), of: pack.id)
        }
        StagingStep.downloadRecorded.reached()
    }

    /// Packs that other variants replace on this device, if all of these are loaded: they are purgeable.
    func recordReplacedVariants(
        _ choice: VariantChoice, among candidates: Set<PackID>
    ) async throws(VaultError) {
        for id in try store.records.ids() where candidates.contains(id) {
            guard let record = try? store.records.record(of: id) else { continue }
            let others = choice.replaced[id] ?? []
            let isReplaced =
                !others.isEmpty
                && others.allSatisfy { other in (try? store.records.record(of: other))?.loaded != nil }
            guard record.isReplacedVariant != isReplaced else { continue }
            try await store.record(.variantChosen(isReplaced: isReplaced), of: id)
        }
    }

    /// Records how the live version looks now that it is verified.
    func recordFingerprint(of loaded: PackRecord.Loaded) async throws(VaultError) {
        let fingerprint = try VersionFingerprint.digest(
            of: store.layout.version(loaded.pack, as: loaded.form), as: loaded.form)
        try await store.record(.verified(loaded, fingerprint: fingerprint), of: loaded.pack.id)
    }

    /// Whether the fingerprint of the live version changed since it was staged; false if none was recorded.
    func hasChangedFingerprint(_ record: PackRecord) -> Bool {
        guard let loaded = record.loaded, let fingerprint = record.fingerprint else { return false }
        let version = store.layout.version(loaded.pack, as: loaded.form)
        return (try? VersionFingerprint.digest(of: version, as: loaded.form)) != fingerprint
    }

    /// Whether this role, or the app, verified metadata as new as these. A record that names newer metadata is not trusted.
    func hasVerified(_ listing: ListingVersion) throws(VaultError) -> Bool {
        for role in Set([store.role, .app]) {
            if let versions = try store.metadata(of: role).storedVersions(),
                listing <= ListingVersion(root: versions.root, snapshot: versions.snapshot)
            {
                return true
            }
        }
        return false
    }
}
