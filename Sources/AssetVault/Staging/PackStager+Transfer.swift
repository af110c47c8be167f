import SealedPack
import VaultErrors
import VaultFileSystem
import VaultKeys

/// From where a proven pack is to where its role wants it.
extension PackStager {
    /// A finished download goes straight to permanent storage where there is a key for it, else to shared storage.
    func arrive(_ file: OpenFileReference, _ listing: OfferedPack) async throws(VaultError)
        -> PackState
    {
        let pack = listing.pack
        var refusal: VaultError?
        if case .app(_?, _) = role {
            do throws(VaultError) {
                return try await transfer(file, of: pack, listedBy: listing.version)
            } catch {
                guard error.category == .key else { throw error }
                refusal = error
            }
        }
        observer(.transferring(pack.id))
        try await staging.share(file, of: pack, listedBy: listing.version)
        if let refusal { throw refusal }
        return .toBeTransferred
    }

    /// To permanent storage, where there is a key.
    func transfer(
        _ file: OpenFileReference, of pack: PackDescriptor, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState {
        guard case .app(let keys?, let wanted) = role else { return .toBeTransferred }
        return try await openings.take(for: pack.id.description) { () throws(VaultError) in
            let source = try await OpenPack(
                try PackFile(file, as: pack, named: pack.id.description), keys: keys)
            let present = try staging.records.record(of: pack.id).loaded?.form
            switch wanted ?? present ?? .opened {
            case .opened:
                try await staging.open(source, of: pack, listedBy: listing) { done in
                    observer(.opening(pack.id, bytes: done, total: pack.openedSize))
                }
                // Opened straight from ephemeral storage, its file is of no more use.
                if file.file.path == staging.layout.finishedDownload(of: pack),
                    try FileSystem.exists(file.file.path)
                {
                    try FileSystem.unlink(file.file.path)
                    StagingStep.downloadCleared.reached()
                }
            case .sealed:
                observer(.transferring(pack.id))
                try await staging.keepSealed(file, of: pack, listedBy: listing)
            }
            return .loaded
        }
    }

    /// Opens what is kept sealed and is to be opened now: nothing needs to be downloaded. Nil where that is not so, or what
    /// is kept is damaged.
    func openKept(
        _ pack: PackDescriptor, _ record: PackRecord, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState? {
        guard let loaded = record.loaded, loaded.form == .sealed, loaded.pack.sha256 == pack.sha256 else {
            return nil
        }
        do throws(VaultError) {
            let kept = try OpenFile(reading: staging.layout.version(pack, as: .sealed))
            return try await transfer(OpenFileReference(kept), of: pack, listedBy: listing)
        } catch {
            guard [.corrupt, .missing].contains(error.category) else { throw error }
            return nil
        }
    }
}
