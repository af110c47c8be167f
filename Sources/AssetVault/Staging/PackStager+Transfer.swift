import SealedPack
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Moves verified packs from where they arrived to the area in which the role keeps packs.
extension PackStager {
    /// Moves a finished download to permanent storage where there is a key for it, else to shared storage. Throws `.key` afterwards where
    /// none of the given keys opens it.
    func transferDownload(_ arrived: ArrivedPack, _ offer: LocatedPack) async throws(VaultError) -> PackState
    {
        let pack = offer.pack
        var refusal: VaultError?
        if keys != nil {
            do throws(VaultError) {
                return try await transfer(arrived, of: pack, listedBy: offer.listing)
            } catch {
                guard error.category == .key, arrived.canStaySealed else { throw error }
                refusal = error
            }
        }
        observer(.transferring(pack.id))
        try await store.transfer.share(arrived, of: pack, listedBy: offer.listing, space: space)
        if let refusal { throw refusal }
        return .toBeTransferred
    }

    /// To permanent storage, where there is a key.
    func transfer(
        _ arrived: ArrivedPack, of pack: PackManifest, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState {
        guard let keys else { return .toBeTransferred }
        let file = arrived.file
        return try await openings.withPermit(for: pack.id.description) { () throws(VaultError) in
            let source = try await OpenPack(arrived.packFile(of: pack), keys: keys)
            let isDownload = store.layout.downloads(of: pack).contains(file.file.path)
            let state: PackState
            // Another process may have asked for another form since: what is not whole can only be opened.
            switch arrived.canStaySealed ? form(for: try store.records.record(of: pack.id)) : .opened {
            case .opened:
                var (basis, arriving) = arrived.rest.trees
                if basis == nil { basis = try? await reusablePacks.basis(for: source, of: pack) }
                state = try await installer.open(
                    source, of: pack, arriving: arriving, restingOn: basis, listedBy: listing
                ) { done in
                    // A process that waits for the pack sees progress by the time of the file.
                    if isDownload { file.file.touch() }
                    observer(.opening(pack.id, bytes: done, total: pack.openedSize))
                }
            case .sealed:
                observer(.transferring(pack.id))
                state = try await installer.keepSealed(arrived, of: pack, listedBy: listing)
            }
            // Opened or copied directly from ephemeral storage: the file is not needed any more.
            if isDownload, try file.file.isStill(at: file.file.path) {
                try FileSystem.removeFile(file.file.path)
                StagingStep.downloadCleared.reached()
            }
            return state
        }
    }

    /// The state of a pack that none of the given keys opens: a missing key is not a failure. Nil for any other error.
    func stateWithoutKey(_ task: StagingTask, after error: VaultError) async throws(VaultError) -> PackState?
    {
        guard error.category == .key, let keys else { return nil }
        let record = try store.records.record(of: task.id)
        var matches = await KeyMatches(keys)
        guard let pack = task.offer?.pack ?? record.waiting, await matches.missingKey(of: pack) != nil else {
            return nil
        }
        if record.waiting?.sha256 == pack.sha256 {
            try await store.record(.lackedKey, of: task.id)
            return .toBeTransferred
        }
        return record.loaded == nil ? nil : .loaded
    }

    /// The pack as it is kept sealed in permanent storage, live or held by a reader: with a key it needs no download. Nil where
    /// it is missing or damaged.
    func keptPack(_ pack: PackManifest) async throws(VaultError) -> ArrivedPack? {
        guard keys != nil else { return nil }
        let version = store.layout.version(pack, as: .sealed)
        do throws(VaultError) {
            let kept = OpenFileReference(try OpenFile(reading: version))
            let resting = try PackFile(kept, as: pack).withBases(beside: version)
            observer(.verifying(pack.id, bytes: 0, total: pack.length))
            guard try await resting.check().isSound else { return nil }
            return ArrivedPack(kept, on: resting.bases)
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }
}
