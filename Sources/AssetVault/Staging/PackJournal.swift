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
        // A newer listing decided meanwhile.
        if record.arrivingListing < record.listing { record.arriving = nil }
        if let arriving = record.arriving, try hasEntry(of: arriving) {
            // It was downloaded since: the earlier failure no longer counts.
            (record.waiting, record.arriving, record.failure) = (arriving, nil, nil)
            record.listing = record.arrivingListing
        }
        if let waiting = record.waiting, try !hasEntry(of: waiting) { record.waiting = nil }
        if role == .app {
            record.loaded = try VersionFolder(of: id, in: layout)?.live(recorded: record.loaded)
            try followReady(&record)
        }
        record.chosenForm = record.chosenForm ?? record.loaded?.form
        if let loaded = record.loaded {
            // Without a record it is not known to replace the live version; at worst it is downloaded once more.
            if saved == nil, let waiting = record.waiting, waiting.version <= loaded.pack.version {
                record.waiting = nil
            }
            // It waited and is live now: the earlier failure no longer counts.
            if loaded.pack.sha256 == saved?.waiting?.sha256 { record.failure = nil }
            if loaded.pack.sha256 == record.waiting?.sha256 { record.waiting = nil }
            // Unless it arrives to be kept in another form.
            if loaded.pack.sha256 == record.arriving?.sha256, record.chosenForm == loaded.form {
                record.arriving = nil
            }
        }
        return record
    }

    /// What was ready may be live by now, or gone.
    private func followReady(_ record: inout PackRecord) throws(VaultError) {
        guard let ready = record.ready else { return }
        if record.loaded?.name.text == ready.version.name.text {
            (record.loaded, record.fingerprint, record.ready) = (ready.version, ready.fingerprint, nil)
        } else if try !FileSystem.exists(layout.version(ready.version.pack, as: ready.version.form)) {
            record.ready = nil
        }
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
    /// Saves a change of one pack's record at once. The record is untouched where newer metadata decided on it.
    func updateRecord(
        of id: PackID, listedBy listing: ListingVersion? = nil, _ change: (inout PackRecord) -> Void
    ) async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in
            let saved =
                if let sound = try store.records.readableRecord(of: id) { sound } else {
                    try reconciled(nil, of: id)
                }
            if let listing, !saved.accepts(listing) { return }
            var record = saved
            change(&record)
            if record != saved { try store.records.save(record, of: id) }
        }
    }

    /// A download begins: other processes see what is on its way.
    func recordDownload(of pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        if try !store.records.record(of: pack.id).hasBegun(pack, listedBy: listing) {
            try await updateRecord(of: pack.id, listedBy: listing) { $0.begin(pack, listedBy: listing) }
        }
        StagingStep.downloadRecorded.reached()
    }

    /// A pack that the app removed is asked for again.
    func recordRequest(for id: PackID) async throws(VaultError) {
        guard let record = try? store.records.record(of: id), record.isRemoved else { return }
        try await updateRecord(of: id) { $0.isRemoved = false }
    }

    func recordFailure(_ error: VaultError, of id: PackID) async throws(VaultError) {
        try await updateRecord(of: id) { record in
            guard !record.isRemoved else { return }
            // If the pack is live and nothing is under way, only its clean-up failed: nothing is lost.
            guard record.loaded == nil || record.waiting != nil || record.arriving != nil else { return }
            record.failure = PackFailure(error)
        }
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
            try await updateRecord(of: id) { $0.isReplacedVariant = isReplaced }
        }
    }

    /// Records how the live version looks now that it is verified.
    func recordFingerprint(of loaded: PackRecord.Loaded) async throws(VaultError) {
        let fingerprint = try VersionFingerprint.digest(
            of: store.layout.version(loaded.pack, as: loaded.form), as: loaded.form)
        try await updateRecord(of: loaded.pack.id) { record in
            if record.loaded?.pack.sha256 == loaded.pack.sha256, record.loaded?.form == loaded.form {
                record.fingerprint = fingerprint
            }
        }
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
