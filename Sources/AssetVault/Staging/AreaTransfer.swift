import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// The moves of a sealed pack between the areas. Each is durable before the next one begins: a pack has its final name only
/// when it is complete.
struct AreaTransfer: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }

    /// From ephemeral to shared storage: the verified file becomes a pack that waits for its key. It may have holes where the live
    /// version has its pieces, or files beside it; on a file system without holes it is completed first.
    func share(
        _ arrived: ArrivedPack, of pack: PackManifest, listedBy listing: ListingVersion, space: DiskSpace
    ) async throws(VaultError) {
        let target = layout.waitingPack(pack)
        let folder = target.removingLastComponent()
        try layout.makeShared(folder)
        let canRest = try arrived.canRest(in: folder)
        let arrived = canRest ? arrived : try await arrived.completed(in: arrived.file, of: pack)
        try await space.make(toMove: arrived.file, of: pack, to: folder)
        let move = try VerifiedMove(of: arrived, pack, to: target, in: store)
        let isRemoved = try await store.withLock(move) { move throws(VaultError) in
            try pack.save(beside: target)
            StagingStep.manifestSaved.reached()
            // The file of another process that waits already keeps its places. Those of a whole file are removed.
            let isNew = try !FileSystem.exists(target)
            let isThis = try arrived.file.file.isStill(at: target)
            if isNew || isThis && arrived.isWhole {
                try arrived.savePlaces(beside: target, of: pack)
            }
            StagingStep.placesSaved.reached()
            try move.commit()
            StagingStep.packShared.reached()
            var change = try PackTransaction(locked: pack.id, in: store)
            let isNewest = change.apply(.shared(pack, listedBy: listing))
            if !isNewest || !space.kept.keeps(after: pack) {
                try store.removeUnneededWaiting(of: pack.id, beside: change.record)
            }
            if isNewest { try change.save() }
            StagingStep.shareRecorded.reached()
            return change.record.isRemoved
        }
        if isRemoved { throw .removedMeanwhile(pack.id) }
    }

    /// From shared to ephemeral storage: a damaged pack becomes a partial download again, whose sound pieces need not be
    /// fetched.
    func returnForRepair(_ damaged: FilePath, of pack: PackManifest, listedBy listing: ListingVersion)
        async throws(VaultError)
    {
        let target = layout.partialDownload(of: pack)
        try layout.makeEphemeral()
        let file = try? OpenFileReference(OpenFile(reading: damaged))
        // Its lock is kept until the file is moved.
        defer { file?.file.unlock() }
        if let file, try isBeingFreed(file.file, of: pack) {
            throw .supersededByAnotherProcess(pack.id, in: layout)
        }
        guard let found = try FileSystem.status(of: damaged), EphemeralName.isOurs(found) else {
            // A file of another user or a link is never continued.
            return try await store.withLock { () throws(VaultError) in
                try store.waiting(pack.id).discard(damaged)
                try recordReturn(of: pack, listedBy: listing)
            }
        }
        do throws(VaultError) {
            // Before the lock is taken: a copy may last.
            let move = try FileMove(from: damaged, to: target) { _ in }
            try await store.withLock(move) { move throws(VaultError) in
                if try FileSystem.exists(target) {
                    try FileSystem.removeFile(damaged)
                } else {
                    try move.commit()
                }
                try recordReturn(of: pack, listedBy: listing)
            }
        } catch {
            throw error.category == .missing ? .supersededByAnotherProcess(pack.id, in: layout) : error
        }
    }

    /// Whether another process of this user frees a file that waits: what is missing there is in the tree, which may have its final name
    /// by now. If none does, the file is locked from now on, so that none begins.
    private func isBeingFreed(_ file: borrowing OpenFile, of pack: PackManifest) throws(VaultError) -> Bool {
        guard try EphemeralName.isOurs(file.status()), (try? file.tryLock(exclusive: false)) == false,
            try file.hasHoles
        else { return false }
        if try FileSystem.exists(layout.arrivingTree(of: pack)) { return true }
        return try FileSystem.exists(layout.version(pack, as: .opened))
    }

    private func recordReturn(of pack: PackManifest, listedBy listing: ListingVersion) throws(VaultError) {
        var change = try PackTransaction(locked: pack.id, in: store)
        if change.apply(.returned(pack, listedBy: listing)) { try change.save() }
        try store.removeUnneededWaiting(of: pack.id, beside: change.record)
    }

    /// From permanent to shared storage, under the lock: a sealed pack that got its name and never became live waits again.
    /// It is verified, and needs no second download.
    func returnToWaiting(_ pack: PackManifest) throws(VaultError) {
        let (version, target) = (layout.version(pack, as: .sealed), layout.waitingPack(pack))
        guard try !FileSystem.exists(target), try layout.isKeptSealed(pack) else { return }
        try layout.makeShared(layout.waiting(of: pack.id))
        try pack.save(beside: target)
        guard let versions = try VersionFolder(of: pack.id, in: layout) else { return }
        _ = try versions.whileFree(VersionName(of: pack, as: .sealed)) { () throws(VaultError) in
            try FileMove(from: version, to: target) { _ in }.commit()
        }
    }
}

/// How a verified pack gets its final name in another area. Other processes stage the same packs: where one of them was
/// faster, `.busy` makes the caller look again where the pack is now.
struct VerifiedMove: ~Copyable, Sendable {
    private let layout: StoreLayout
    private let pack: PackManifest
    private let target: FilePath
    /// The file of a pack that waits and is whole.
    private let waiting: OpenFileReference?
    /// Nil when the target has the same bytes already.
    private let move: FileMove?

    /// A rename on the same file system, else a copy that is verified; before the lock is taken, since that may last. A file
    /// of another user is always copied for the app: that user could change it afterwards.
    ///
    /// - Parameter arrived: the file, verified as a whole or, with holes, piece by piece.
    init(
        of arrived: ArrivedPack, _ pack: PackManifest, to target: FilePath, in store: StoreAccess
    ) throws(VaultError) {
        let file = arrived.file
        let isWaiting = file.file.path == store.layout.waitingPack(pack)
        waiting = isWaiting && arrived.isWhole ? file : nil
        (layout, self.pack, self.target) = (store.layout, pack, target)
        let verified = try file.file.status()
        guard try !FileSystem.exists(target) else {
            move = nil
            return
        }
        let source = file.file.path
        let layout = store.layout
        let verify: @Sendable (borrowing OpenFile) throws(VaultError) -> Void = { copy throws(VaultError) in
            let found = try copy.status()
            if found.isSameFile(as: verified) { return }
            // Another user replaced the file, and may still have it open.
            guard EphemeralName.isOurs(found) else { throw .supersededByAnotherProcess(pack.id, in: layout) }
            let isEqual =
                try arrived.isWhole ? copy.sha256() == pack.sha256 : copy.hasSameData(as: file.file)
            guard isEqual else {
                throw VaultError(
                    .corrupt, "the copy differs from the pack", at: target.string, remedy: "check the disk")
            }
        }
        do throws(VaultError) {
            move =
                store.role == .app && !EphemeralName.isOurs(verified)
                ? try FileMove.copying(from: source, to: target, verify: verify)
                : try FileMove(from: source, to: target, verify: verify)
        } catch {
            throw error.category == .missing ? .supersededByAnotherProcess(pack.id, in: layout) : error
        }
    }

    /// Gives the file its name, under the lock, unless another process has put the same bytes there.
    consuming func commit() throws(VaultError) {
        guard try !FileSystem.exists(target) else { return }
        let (id, layout, waiting) = (pack.id, layout, waiting)
        guard let move else { throw .supersededByAnotherProcess(id, in: layout) }
        // A process that frees the file while it opens it has it locked, and may have freed pieces of it since it was verified.
        if let waiting {
            let isLocked = (try? waiting.file.tryLock(exclusive: false)) ?? true
            guard isLocked, try !waiting.file.hasHoles else {
                throw .supersededByAnotherProcess(id, in: layout)
            }
        }
        defer { waiting?.file.unlock() }
        do throws(VaultError) { try move.commit() } catch {
            throw error.category == .missing ? .supersededByAnotherProcess(id, in: layout) : error
        }
    }
}
