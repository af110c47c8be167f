import SealedPack
import VaultConcurrency
import VaultErrors
import VaultFileSystem
import VaultKeys

/// From where a verified pack is to the area where its role wants it.
extension PackStager {
    /// Moves a finished download to permanent storage where there is a key for it, else to shared storage.
    func transferDownload(_ file: OpenFileReference, _ offer: LocatedPack) async throws(VaultError)
        -> PackState
    {
        let pack = offer.pack
        var refusal: VaultError?
        if keys != nil {
            do throws(VaultError) {
                return try await transfer(file, of: pack, listedBy: offer.listing)
            } catch {
                guard error.category == .key else { throw error }
                refusal = error
            }
        }
        observer(.transferring(pack.id))
        try await store.transfer.share(file, of: pack, listedBy: offer.listing, space: space)
        if let refusal { throw refusal }
        return .toBeTransferred
    }

    /// To permanent storage, where there is a key.
    func transfer(
        _ file: OpenFileReference, of pack: PackManifest, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState {
        guard let keys else { return .toBeTransferred }
        return try await openings.withPermit(for: pack.id.description) { () throws(VaultError) in
            let source = try await OpenPack(
                try PackFile(file, as: pack, named: pack.id.description), keys: keys)
            let record = try store.records.record(of: pack.id)
            let isDownload = file.file.path == store.layout.finishedDownload(of: pack)
            switch form ?? record.chosenForm ?? record.loaded?.form ?? .opened {
            case .opened:
                try await installer.open(source, of: pack, listedBy: listing) { done in
                    // A process that waits for the pack sees progress by the time of the file.
                    if isDownload { file.file.touch() }
                    observer(.opening(pack.id, bytes: done, total: pack.openedSize))
                }
                // Opened directly from ephemeral storage: the file is not needed any more.
                if isDownload, try FileSystem.exists(file.file.path) {
                    try FileSystem.removeFile(file.file.path)
                    StagingStep.downloadCleared.reached()
                }
            case .sealed:
                observer(.transferring(pack.id))
                try await installer.keepSealed(file, of: pack, listedBy: listing)
            }
            return .loaded
        }
    }

    /// The state of a pack that none of the keys here opens: a missing key is not a failure. Nil for any other error.
    func stateWithoutKey(_ task: StagingTask, after error: VaultError) async throws(VaultError) -> PackState?
    {
        guard error.category == .key, let keys else { return nil }
        let record = try store.records.record(of: task.id)
        var matches = await KeyMatches(keys)
        guard let pack = task.offer?.pack ?? record.waiting, await matches.missingKey(of: pack) != nil else {
            return nil
        }
        if record.waiting?.sha256 == pack.sha256 {
            try await store.journal.updateRecord(of: task.id) { $0.failure = nil }
            return .toBeTransferred
        }
        return record.loaded == nil ? nil : .loaded
    }

    /// The pack as it is kept sealed in permanent storage, live or held by a reader: with a key it needs no download. Nil where
    /// it is missing or damaged.
    func keptPack(_ pack: PackManifest) throws(VaultError) -> OpenFileReference? {
        guard keys != nil else { return nil }
        do throws(VaultError) {
            let kept = OpenFileReference(try OpenFile(reading: store.layout.version(pack, as: .sealed)))
            observer(.verifying(pack.id))
            return try pack.isVerified(by: kept.file) ? kept : nil
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }
}
