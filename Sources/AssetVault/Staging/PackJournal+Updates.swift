import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

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
            // A pack that is live with nothing under way lost nothing: the step that failed was its clearing up.
            guard record.loaded == nil || record.waiting != nil || record.arriving != nil else { return }
            record.failure = PackFailure(error)
        }
    }

    /// Packs in whose place others serve on this device, all of which are loaded: they are purgeable.
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

    /// Whether the live version looks otherwise than when it was staged. One without a fingerprint does not.
    func hasChangedFingerprint(_ record: PackRecord) -> Bool {
        guard let loaded = record.loaded, let fingerprint = record.fingerprint else { return false }
        let version = store.layout.version(loaded.pack, as: loaded.form)
        return (try? VersionFingerprint.digest(of: version, as: loaded.form)) != fingerprint
    }

    /// Whether this role, or the app, verified metadata as new as these. A record that names newer ones is not believed.
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
