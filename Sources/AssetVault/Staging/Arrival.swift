import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// How a verified file gets its final name. Other processes want the same packs: one that takes a file on meanwhile makes
/// the others try again, which then find it further on.
extension PackStaging {
    /// A rename where it can be one, else a copy that is verified first, before the lock is taken. Nil when the name is
    /// taken already, by the same bytes. A file of another user is copied: that user could change it afterwards.
    func arrival(of file: OpenFileReference, of pack: PackManifest, at target: FilePath)
        throws(VaultError) -> FileMove?
    {
        guard try !FileSystem.exists(target) else { return nil }
        let verified = try file.file.status()
        do throws(VaultError) {
            let verify: @Sendable (borrowing OpenFile) throws(VaultError) -> Void = {
                copy throws(VaultError) in
                let found = try copy.status()
                if found.isSameFile(as: verified) { return }
                // Put in its place meanwhile, by somebody who may still have it open.
                guard EphemeralName.isOurs(found) else { throw takenByAnotherProcess(pack) }
                guard try copy.sha256() == pack.sha256 else {
                    throw VaultError(
                        .corrupt, "the copy differs from the pack", at: target.string,
                        remedy: "check the disk")
                }
            }
            let source = file.file.path
            return role == .app && !EphemeralName.isOurs(verified)
                ? try FileMove.copying(from: source, to: target, verify: verify)
                : try FileMove(from: source, to: target, verify: verify)
        } catch {
            throw error.category == .missing ? takenByAnotherProcess(pack) : error
        }
    }

    /// Ends the move, under the lock, unless somebody else has put the same bytes there.
    func arrive(_ arrival: consuming FileMove?, of pack: PackManifest, at target: FilePath)
        throws(VaultError)
    {
        guard try !FileSystem.exists(target) else { return }
        guard let arrival else { throw takenByAnotherProcess(pack) }
        do throws(VaultError) {
            try arrival.commit()
        } catch {
            throw error.category == .missing ? takenByAnotherProcess(pack) : error
        }
    }

    func takenByAnotherProcess(_ pack: PackManifest) -> VaultError {
        VaultError(
            .busy, "another process took the pack '\(pack.id)' on", at: layout.shared.string,
            remedy: "try again")
    }

    func removedMeanwhile(_ id: PackID) -> VaultError {
        VaultError(
            .missing, "the pack was removed meanwhile", at: id.description,
            remedy: "ask for it again if it is wanted")
    }
}

extension PackStaging {
    /// A damaged pack becomes a partial download again: what is sound in it needs not be fetched.
    func returnForRepair(_ damaged: FilePath, of pack: PackManifest) async throws(VaultError) {
        let target = layout.partialDownload(of: pack)
        try layout.makeEphemeral()
        guard let found = try FileSystem.status(of: damaged), EphemeralName.isOurs(found) else {
            // Another user's file, or a link to anywhere, is nothing to go on with.
            let control = try await lock()
            defer { withExtendedLifetime(control) {} }
            if let name = damaged.lastComponent?.string {
                try tidyWaiting(of: pack.id) { folder throws(VaultError) in try folder.discard(name) }
            }
            return try noteReturn(of: pack)
        }
        do throws(VaultError) {
            // Made before the lock is taken: a copy may last.
            let move = try FileMove(from: damaged, to: target) { _ in }
            let control = try await lock()
            if try FileSystem.exists(target) {
                try FileSystem.unlink(damaged)
            } else {
                try move.commit()
            }
            try noteReturn(of: pack)
            _ = consume control
        } catch {
            throw error.category == .missing ? takenByAnotherProcess(pack) : error
        }
    }

    private func noteReturn(of pack: PackManifest) throws(VaultError) {
        var record = try records.record(of: pack.id)
        if record.waiting.map({ $0.sha256 == pack.sha256 }) ?? true {
            record.waiting = nil
            record.arriving = pack
            try records.save(record, of: pack.id)
        }
        try removeWaiting(of: pack.id, beside: record)
    }
}
