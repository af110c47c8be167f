import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Installs a verified pack in permanent storage, sealed or opened, and activates it: one rename of the link `current` makes
/// it the live version.
struct PackInstaller: Sendable {
    let store: StoreAccess
    let space: DiskSpace
    /// The packs that are not activated by themselves.
    let sets: PackSets

    var layout: StoreLayout { store.layout }

    /// Installs the pack as it is, with the places of the pieces that are in its bases. Returns its state.
    func keepSealed(_ arrived: ArrivedPack, of pack: PackManifest, listedBy listing: ListingVersion)
        async throws(VaultError) -> PackState
    {
        let home = layout.home(of: pack.id)
        try FileSystem.createFolders(home, permissions: 0o755)
        let target = layout.version(pack, as: .sealed)
        var replacesBase = false
        if arrived.file.file.path != target {
            replacesBase = try await !removeUnsound(pack, as: .sealed) { () throws(VaultError) in
                try await PackFile(opening: target, as: pack).check().isSound
            }
        }
        guard !replacesBase, try canRest(arrived, in: home) else {
            return try await keepWhole(arrived, of: pack, at: target, replacesBase, listedBy: listing)
        }
        try await space.make(toMove: arrived.file, of: pack, to: home)
        let move = try VerifiedMove(of: arrived, pack, to: target, in: store)
        return try await store.withLock(move) { move throws(VaultError) in
            if try !FileSystem.exists(target) {
                try pack.save(beside: target)
                StagingStep.manifestSaved.reached()
                try arrived.savePlaces(beside: target, of: pack)
                StagingStep.placesSaved.reached()
                try move.commit()
                StagingStep.versionRenamed.reached()
            }
            return try activateSealed(pack, listedBy: listing)
        }
    }

    /// Whether the file needs no piece of another folder. What another user can write is verified as it is copied.
    private func canRest(_ arrived: ArrivedPack, in home: FilePath) throws(VaultError) -> Bool {
        guard let bases = arrived.bases else { return true }
        guard bases.folder == home, EphemeralName.isOurs(try arrived.file.file.status()) else { return false }
        return try arrived.canRest(in: home)
    }

    /// Keeps a copy of all pieces of a pack that can't rest on others there, or replaces a file whose pieces others need.
    private func keepWhole(
        _ arrived: ArrivedPack, of pack: PackManifest, at target: FilePath, _ replacesBase: Bool,
        listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState {
        try await space.make(for: pack.length, of: pack.id, in: layout.home(of: pack.id))
        let whole = try ScratchFile(for: target)
        let file = OpenFileReference(try OpenFile(duplicating: whole.file.descriptor, named: target))
        try arrived.packFile(of: pack).writeTailFile(to: file.file)
        _ = try await arrived.completed(in: file, of: pack)
        return try await store.withLock(whole) { whole throws(VaultError) in
            let isMissing = try !FileSystem.exists(target)
            if isMissing || replacesBase {
                try pack.save(beside: target)
                StagingStep.manifestSaved.reached()
                try FileSystem.discard(PiecePlaces.path(beside: target))
                StagingStep.placesSaved.reached()
                try whole.commit(permissions: 0o644, replacing: true)
                StagingStep.versionRenamed.reached()
            }
            return try activateSealed(pack, listedBy: listing)
        }
    }

    private func activateSealed(_ pack: PackManifest, listedBy listing: ListingVersion) throws(VaultError)
        -> PackState
    {
        let fingerprint = try? VersionFingerprint.digest(of: layout.version(pack, as: .sealed), as: .sealed)
        return try activate(pack, as: .sealed, listedBy: listing, fingerprint: fingerprint)
    }

    /// Installs the pack's files: a tree is written aside, saved to the disk as a whole and renamed. Returns the state of the pack.
    ///
    /// - Parameters:
    ///   - arriving: the tree that the download was opened into; nil for one to be written aside.
    ///   - basis: trees of which it takes what is unchanged; see ``TreeBasis``.
    func open(
        _ source: OpenPack, of pack: PackManifest, arriving: ArrivingTree?, restingOn basis: TreeBasis?,
        listedBy listing: ListingVersion, progress: (UInt64) -> Void
    ) async throws(VaultError) -> PackState {
        try FileSystem.createFolders(layout.home(of: pack.id), permissions: 0o755)
        let version = layout.version(pack, as: .opened)
        try await removeUnsound(pack, as: .opened) { () throws(VaultError) in
            try await OpenedTree(version, of: source).requireSound()
            return true
        }
        guard try !FileSystem.exists(version) else {
            let fingerprint = try? VersionFingerprint.digest(of: version, as: .opened)
            let state = try await store.withLock { () throws(VaultError) -> PackState in
                guard try FileSystem.exists(version) else {
                    throw .supersededByAnotherProcess(pack.id, in: layout)
                }
                return try activate(pack, as: .opened, listedBy: listing, fingerprint: fingerprint)
            }
            arriving?.discard()
            return state
        }
        let tree = try await write(source, of: pack, arriving: arriving, restingOn: basis, progress: progress)
        let fingerprint = tree.fingerprint
        StagingStep.treeWritten.reached()
        let state = try await store.withLock(tree) { tree throws(VaultError) -> PackState in
            if try !FileSystem.exists(version) {
                try pack.save(beside: version)
                StagingStep.manifestSaved.reached()
                try tree.commit(to: version)
                StagingStep.versionRenamed.reached()
            }
            return try activate(pack, as: .opened, listedBy: listing, fingerprint: fingerprint)
        }
        // Another process had the version first.
        arriving?.discard()
        return state
    }

    /// Installs a version that is complete already. Returns the state of the pack.
    func take(
        _ ready: PackRecord.Ready, as pack: PackManifest, listedBy listing: ListingVersion
    ) async throws(VaultError) -> PackState {
        try await store.withLock { () throws(VaultError) in
            guard try FileSystem.exists(layout.version(pack, as: ready.version.form)) else {
                throw .supersededByAnotherProcess(pack.id, in: layout)
            }
            return try activate(
                pack, as: ready.version.form, listedBy: listing, fingerprint: ready.fingerprint)
        }
    }

    private func write(
        _ source: OpenPack, of pack: PackManifest, arriving: ArrivingTree?, restingOn basis: TreeBasis?,
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> WrittenTree {
        let linked = min(basis?.linkedLength ?? 0, pack.installedSize)
        let (rest, home) = (pack.installedSize - linked, layout.home(of: pack.id))
        // An earlier attempt may have begun the tree.
        let isBegun = try FileSystem.exists(layout.arrivingTree(of: pack))
        var (arriving, sealed) = (arriving, FreeablePack?.none)
        if !isBegun, try !space.fits(rest, in: home) {
            sealed = try freeable(source.pack, of: pack)
            if try sealed?.room(for: rest) ?? rest >= rest { sealed = nil }
        }
        if arriving == nil, isBegun || sealed != nil {
            arriving = try await ArrivingTree.claim(pack, opening: source, restingOn: basis, in: layout)
        }
        if let arriving {
            do throws(VaultError) {
                sealed = try await makeRoom(
                    for: arriving, of: pack, openedFrom: source.pack, freeing: sealed)
            } catch {
                if !isBegun { arriving.discard() }
                throw error
            }
        } else {
            sealed = nil
            try await space.make(for: rest, of: pack.id, in: home)
        }
        return try await WrittenTree.make(
            of: source, pack, arriving: arriving, freeing: sealed, restingOn: basis, in: layout,
            progress: progress)
    }

    /// Records what newer metadata says of a pack that is live already, such as slots for other keys.
    func refresh(_ pack: PackManifest, listedBy listing: ListingVersion) async throws(VaultError) {
        try await store.withLock { () throws(VaultError) in
            guard let form = try store.records.record(of: pack.id).loaded?.form else { return }
            _ = try activate(pack, as: form, listedBy: listing)
        }
    }

    /// Makes a complete version the live one, records it and removes what it supersedes; one of a set only becomes ready. If another
    /// process with newer metadata was faster, this one changes nothing.
    ///
    /// - Parameter fingerprint: how the version looks; nil leaves what was recorded.
    private func activate(
        _ pack: PackManifest, as form: PackForm, listedBy listing: ListingVersion,
        fingerprint: SHA256Digest? = nil
    ) throws(VaultError) -> PackState {
        guard let versions = try VersionFolder(of: pack.id, in: layout) else {
            throw .supersededByAnotherProcess(pack.id, in: layout)
        }
        var change = try PackTransaction.following(pack.id, in: store)
        let awaitsOthers = sets.contains(pack) && change.record.loaded?.pack.sha256 != pack.sha256
        guard change.apply(.decided(pack, listedBy: listing)) else {
            try removeSuperseded(by: change.record, of: pack.id, in: versions)
            throw change.record.isRemoved
                ? .removedMeanwhile(pack.id) : .supersededByAnotherProcess(pack.id, in: layout)
        }
        // Saved before the version is visible: even if this process dies now, no process with older metadata replaces it, nor does
        // one that opens what waits.
        try change.save()
        let version = layout.version(pack, as: form)
        if !pack.isSaved(beside: version) { try pack.save(beside: version) }
        let installed = PackRecord.Loaded(pack: pack, form: form)
        if awaitsOthers {
            let ready = PackRecord.Ready(version: installed, fingerprint: fingerprint)
            change.apply(.becameReady(ready, listedBy: listing))
        } else {
            try VersionSwitch.leaveOut(pack.id, in: layout)
            try versions.activate(installed.name)
            StagingStep.versionActivated.reached()
            change.apply(.activated(installed, fingerprint: fingerprint, listedBy: listing))
        }
        if !space.kept.keeps(after: pack) {
            try removeSuperseded(by: change.record, of: pack.id, in: versions)
        }
        // Last: nothing more is done for a pack that is recorded as loaded.
        try change.save()
        (awaitsOthers ? StagingStep.readyRecorded : .activationRecorded).reached()
        return awaitsOthers ? .toBeTransferred : .loaded
    }

    /// Makes the versions of a set live, all at once, and removes what they supersede. If newer metadata decided on one of them since,
    /// nothing is changed; a pack that the app removed meanwhile is left out.
    ///
    /// - Returns: whether the packs are live as they are listed.
    func activateTogether(_ packs: [PackManifest]) async throws(VaultError) -> Bool {
        try await store.withLock { () throws(VaultError) in
            var versions: [PackID: VersionName] = [:]
            for pack in packs {
                let record = try PackTransaction.following(pack.id, in: store).record
                if record.isRemoved || record.loaded?.pack.sha256 == pack.sha256 { continue }
                guard let ready = record.ready?.version, ready.pack.sha256 == pack.sha256 else {
                    return false
                }
                versions[pack.id] = ready.name
            }
            try VersionSwitch(to: versions).run(in: layout)
            for pack in packs where versions[pack.id] != nil {
                // They are live; recovery does what fails here.
                try? recordSwitch(of: pack)
                StagingStep.activationRecorded.reached()
            }
            return true
        }
    }

    private func recordSwitch(of pack: PackManifest) throws(VaultError) {
        var change = try PackTransaction.following(pack.id, in: store)
        if !space.kept.keeps(after: pack), let versions = try VersionFolder(of: pack.id, in: layout) {
            try removeSuperseded(by: change.record, of: pack.id, in: versions)
        }
        try change.save()
    }

    private func removeSuperseded(
        by record: PackRecord, of id: PackID, in versions: borrowing VersionFolder
    ) throws(VaultError) {
        try store.removeUnneededWaiting(of: id, beside: record)
        try versions.removeVersions(beside: record)
    }

    /// Removes what has the name of a version that is to become live and is not sound: an earlier process died before it
    /// activated it, or it was live before and is left to its readers. Throws `.busy` while a reader holds it. False where it stays, since
    /// another version rests on it.
    @discardableResult
    private func removeUnsound(
        _ pack: PackManifest, as form: PackForm, _ check: () async throws(VaultError) -> Bool
    ) async throws(VaultError) -> Bool {
        let version = layout.version(pack, as: form)
        guard try FileSystem.exists(version) else { return true }
        do throws(VaultError) { if try await check() { return true } } catch {
            guard !error.isOpenFileLimit else { throw error }
        }
        if Task.isCancelled { throw VaultError.cancelled(pack.id.description) }
        var isBase = false
        let isFree = try await store.withLock { () throws(VaultError) in
            let name = VersionName(of: pack, as: form)
            guard let versions = try VersionFolder(of: pack.id, in: layout),
                try layout.liveName(of: pack.id, in: versions.folder)?.string != name.text
            else { throw .supersededByAnotherProcess(pack.id, in: layout) }
            isBase = try versions.isBase(name, beside: store.records.record(of: pack.id))
            return try versions.whileFree(name) { () throws(VaultError) in
                if !isBase { try versions.folder.discardTree(name.text) }
            }
        }
        guard isFree else {
            throw VaultError(
                .busy, "a damaged copy of this version is still being read", at: version.string,
                remedy: "end the program that reads it, and try again")
        }
        return !isBase
    }
}

/// Puts a sound copy in the place of the live version of a pack, which was damaged.
extension PackInstaller {
    /// Replaces a sealed version by the same bytes, sound again; false where it is no longer live. Its readers keep the damaged
    /// one, under a name beside it.
    func replaceFile(_ pack: PackManifest, by whole: OpenFileReference) async throws(VaultError) -> Bool {
        // Used under the lock alone. Recovery removes what has this name.
        let repaired = FilePath(layout.version(pack, as: .sealed).string + ".repaired")
        try await store.withLock { () throws(VaultError) in try FileSystem.removeTree(repaired) }
        let move = try VerifiedMove(of: ArrivedPack(whole), pack, to: repaired, in: store)
        return try await store.withLock(move) { move throws(VaultError) in
            guard let name = try liveName(of: pack, as: .sealed),
                let versions = try VersionFolder(of: pack.id, in: layout)
            else { return false }
            let rests = try !versions.bases(of: name).isEmpty
            var move: VerifiedMove? = move
            func swap() throws(VaultError) {
                try move.take()?.commit()
                let version = versions.folder.path.appending(name.text)
                try FileSystem.move(repaired, to: version, replacing: true)
                // It rests on nothing any more.
                try FileSystem.discard(PiecePlaces.path(beside: version))
            }
            if try !versions.whileFree(name, swap) {
                try HeldVersions(layout: layout).note(pack.id)
                try leaveToReaders(name, of: pack, in: versions)
                try swap()
            }
            try versions.folder.synchronize()
            guard rests else { return true }
            let record = try store.records.record(of: pack.id)
            try versions.removeVersions(beside: record)
            return true
        }
    }

    /// The same for an opened version: the sound tree is written aside, and both exchange their names.
    func replaceTree(
        _ pack: PackManifest, by source: OpenPack, arriving: ArrivingTree?, restingOn basis: TreeBasis?,
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> Bool {
        let tree = try await write(source, of: pack, arriving: arriving, restingOn: basis, progress: progress)
        return try await store.withLock(tree) { tree throws(VaultError) in
            guard let name = try liveName(of: pack, as: .opened),
                let versions = try VersionFolder(of: pack.id, in: layout)
            else { return false }
            if try versions.isHeld(name.damaged) { throw isRead(pack) }
            try versions.folder.discardTree(name.damaged)
            let isFree = try versions.whileFree(name) {}
            if !isFree { try HeldVersions(layout: layout).note(pack.id) }
            // The sound tree first has the name that recovery removes, and then the version's.
            try tree.commit(to: versions.folder.path.appending(name.damaged))
            if try versions.folder.status(of: name.text) == nil {
                try versions.folder.rename(name.damaged, to: versions.folder, as: name.text, replacing: false)
            } else {
                try versions.folder.exchange(name.text, with: name.damaged)
            }
            try versions.folder.synchronize()
            if isFree { try versions.folder.discardTree(name.damaged) }
            return true
        }
    }

    /// The name of the version, if it is live in this form.
    private func liveName(of pack: PackManifest, as form: PackForm) throws(VaultError) -> VersionName? {
        guard let live = try store.records.record(of: pack.id).loaded, live.pack.sha256 == pack.sha256,
            live.form == form
        else { return nil }
        return live.name
    }

    /// The damaged file gets a name of its own. A repair that was killed may have done that already.
    private func leaveToReaders(
        _ name: VersionName, of pack: PackManifest, in versions: borrowing VersionFolder
    ) throws(VaultError) {
        if let left = try versions.folder.status(of: name.damaged) {
            if try versions.folder.status(of: name.text)?.isSameFile(as: left) == true { return }
            if try versions.isHeld(name.damaged) { throw isRead(pack) }
            try versions.folder.discardTree(name.damaged)
        }
        try versions.folder.link(name.text, as: name.damaged)
    }

    private func isRead(_ pack: PackManifest) -> VaultError {
        VaultError(
            .busy, "what an earlier repair replaced is still being read", at: pack.id.description,
            remedy: "end the program that reads it, and repair the pack again")
    }
}
