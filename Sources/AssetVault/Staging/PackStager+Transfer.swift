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
            let record = try staging.records.record(of: pack.id)
            switch wanted ?? record.form ?? record.loaded?.form ?? .opened {
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

    /// What stands sealed in permanent storage, live or left to a reader, where there is a key: it needs no download. Nil where
    /// it is not there or damaged.
    func keptPack(_ pack: PackDescriptor) throws(VaultError) -> OpenFileReference? {
        guard case .app(_?, _) = role else { return nil }
        do throws(VaultError) {
            let kept = OpenFileReference(try OpenFile(reading: staging.layout.version(pack, as: .sealed)))
            observer(.verifying(pack.id))
            return try pack.isProven(by: kept.file) ? kept : nil
        } catch {
            guard [.missing, .corrupt, .io].contains(error.category), !Task.isCancelled else { throw error }
            return nil
        }
    }
}
