import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem
import VaultTransport

extension PackStager {
    /// How long another process's download may make no progress before this one gives up.
    private static let patience = Duration.seconds(120)

    /// The complete, verified file in ephemeral storage. A download that another process has begun is continued: a
    /// downloader leaves it to the app, an app's own is waited for, and a stalled process is bypassed. Nil where a
    /// downloader leaves it to another process.
    ///
    /// - Parameter basis: what its file may rest on.
    func download(_ offer: LocatedPack, restingOn basis: ArrivalBasis?) async throws(VaultError)
        -> ArrivedPack?
    {
        let pack = offer.pack
        let file = DownloadFile(layout: store.layout, pack: pack)
        let mark = ForegroundMark(layout: store.layout, pack: pack)
        // What an app has begun to open is its own to finish: this role could only download all of it again.
        if !opensPacks, (try? FileSystem.exists(store.layout.arrivingTree(of: pack))) == true { return nil }
        try await store.journal.recordDownload(of: pack, listedBy: offer.listing)
        let download = try await beginDownload(of: offer, to: file, restingOn: basis)
        observer(.began(pack.id))
        let progress = DownloadProgress(of: pack, observer)
        let start = ContinuousClock.now
        var deadline = start + Self.patience
        var raised: FileLock?
        var stalls = StallDetector()
        var isStalled = false
        var rounds = 0
        while true {
            do throws(VaultError) {
                let done = try await bring(
                    offer, download, to: file, bypassing: isStalled, givingWayTo: mark, progress)
                _ = consume raised
                return done
            } catch {
                guard error.category == .busy else { throw error }
                guard opensPacks else { return nil }
                if raised == nil { raised = try mark.raise() }
                let before = progress.count
                // A tree that arrives is walked for that.
                if rounds.isMultiple(of: 10), case .partial(let count) = try file.arrival() {
                    progress.report(count)
                }
                rounds += 1
                if try await isDone(offer) {
                    throw VaultError.supersededByAnotherProcess(pack.id, in: store.layout)
                }
                // A process of another user could pretend progress for ever.
                let isOverdue = ContinuousClock.now - start > Self.patience && file.belongsToAnotherUser
                isStalled = try stalls.isStalled(file)
                if isOverdue { isStalled = true }
                if progress.count != before { deadline = ContinuousClock.now + Self.patience }
                guard ContinuousClock.now < deadline else { throw error }
                try await pause(for: .milliseconds(50), at: pack.id.description)
            }
        }
    }

    /// One attempt, as the owner of the file. Throws `.busy` while another process has it, or continued it.
    ///
    /// - Parameter bypassing: whether its owner is stalled.
    private func bring(
        _ offer: LocatedPack, _ download: PackDownload, to file: DownloadFile, bypassing: Bool,
        givingWayTo mark: ForegroundMark, _ progress: DownloadProgress
    ) async throws(VaultError) -> ArrivedPack {
        let pack = offer.pack
        var download = download
        let lockedFile: OpenFileReference
        do throws(VaultError) { lockedFile = try file.claim() } catch {
            let isLeft = try file.isLeftByAnotherUser
            guard error.category == .busy, bypassing || isLeft else { throw error }
            if let whole = try file.finishedFile() { return ArrivedPack(whole) }
            // It needs the space of the whole pack again.
            guard try space.fits(pack.length, in: store.layout.ephemeral) else { throw error }
            lockedFile = try file.takeOver()
            download.reusable = reusablePacks.pieces(
                of: pack, besides: lockedFile.file.path, restingOn: download.reusable?.basis, hasOthers: true)
        }
        StagingStep.downloadClaimed.reached()
        let place = lockedFile.file.path
        // A process that was stalled leaves the download to the one that continued it.
        if file.isTakenOver(from: place) { throw file.isTaken }
        // Its owner may have moved it on meanwhile.
        if try await isDone(offer) {
            try FileSystem.removeFile(place)
            throw VaultError.supersededByAnotherProcess(pack.id, in: store.layout)
        }
        download.isTakenOver = { () async throws(VaultError) in
            if file.isTakenOver(from: place) { return true }
            return try await isDone(offer)
        }
        let done = try await complete(download, lockedFile, givingWayTo: mark, progress)
        if try await isDone(offer) {
            try? FileSystem.removeFile(done.file.file.path)
            throw VaultError.supersededByAnotherProcess(pack.id, in: store.layout)
        }
        return done
    }

    /// A downloader gives way to the app at any moment, also while its host sends nothing.
    private func complete(
        _ download: PackDownload, _ lockedFile: OpenFileReference, givingWayTo mark: ForegroundMark,
        _ progress: DownloadProgress
    ) async throws(VaultError) -> ArrivedPack {
        let work = { @Sendable () async throws(VaultError) -> ArrivedPack in
            var download = download
            return try await download.complete(lockedFile) { progress.report($0) }
        }
        if opensPacks { return try await work() }
        let result = await run(until: { await mark.waitUntilRaised() }, work)
        if let result { return try result.get() }
        if Task.isCancelled { throw VaultError.cancelled(download.pack.id.description) }
        throw VaultError(
            .busy, "the app took over the download of '\(download.pack.id)'",
            at: download.sources.location.description, remedy: "nothing needs to be done")
    }

    /// A download without any request yet. Disk space for a tree is made once the index is known, which says what is in other trees;
    /// for the pack itself it is made now.
    func beginDownload(
        of offer: LocatedPack, to file: DownloadFile, restingOn basis: ArrivalBasis?
    ) async throws(VaultError) -> PackDownload {
        let (layout, space, installer, pack) = (store.layout, space, installer, offer.pack)
        try layout.makeEphemeral()
        var download = newDownload(of: offer, to: file, restingOn: basis)
        @Sendable func makeSpace(_ bytes: UInt64) async throws(VaultError) {
            try await space.make(for: bytes, of: pack.id, in: layout.ephemeral)
        }
        if basis == nil {
            try await makeSpace(file.missingCount)
        } else {
            download.makeSpace = makeSpace
            download.beginTree = { source, basis async throws(VaultError) in
                let tree = try await ArrivingTree.claim(pack, opening: source, restingOn: basis, in: layout)
                if let tree {
                    _ = try await installer.makeRoom(for: tree, of: pack, openedFrom: source.pack)
                } else {
                    try await makeSpace(file.missingCount)
                }
                return tree
            }
        }
        reusablePacks.note(offer.pack)
        return download
    }

    func newDownload(of offer: LocatedPack, to file: DownloadFile, restingOn basis: ArrivalBasis?)
        -> PackDownload
    {
        PackDownload(
            transport: network.transport(for: offer.pack.id), file: file,
            sources: DownloadSources(offer.locations, retries: retries),
            budget: TransferBudget(
                of: offer.pack.id.description, length: offer.pack.length, parts: UInt64(offer.pack.pieceCount)
            ),
            observer: observer,
            reusable: reusablePacks.pieces(
                of: offer.pack, besides: store.layout.partialDownload(of: offer.pack), restingOn: basis,
                hasOthers: false))
    }

    /// What a pack that is about to be downloaded may rest on: where it is to be opened, trees; else the live version, if that has the
    /// form that it will have.
    func arrivalBasis(for id: PackID) throws(VaultError) -> ArrivalBasis? {
        if let keys {
            let record = try store.records.record(of: id)
            if form(for: record) == .opened { return .trees(openedWith: keys, isTrusting: true) }
            return record.loaded?.form == .sealed ? .version : nil
        }
        let installed = try? PackRecords(layout: store.layout, role: .app).record(of: id)
        guard let loaded = installed?.loaded else { return .version }
        return (installed?.chosenForm ?? loaded.form) == loaded.form ? .version : nil
    }

    /// Whether another process moved the pack to shared storage, or further. Under the lock: a file is moved before
    /// that is recorded.
    private func isDone(_ offer: LocatedPack) async throws(VaultError) -> Bool {
        // While the store is busy the answer is no: at worst the pack is downloaded twice.
        let record: PackRecord
        do throws(VaultError) {
            record = try await store.withLock { () throws(VaultError) in
                try store.records.record(of: offer.pack.id)
            }
        } catch {
            guard error.category == .busy else { throw error }
            return false
        }
        if record.waiting?.sha256 == offer.pack.sha256 { return true }
        if let loaded = record.loaded, loaded.pack.sha256 == offer.pack.sha256, accepts(loaded.form) {
            return true
        }
        return record.listing > offer.listing
    }
}
