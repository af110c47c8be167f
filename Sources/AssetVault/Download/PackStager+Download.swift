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
    func download(_ offer: LocatedPack) async throws(VaultError) -> OpenFileReference? {
        let pack = offer.pack
        let file = DownloadFile(layout: store.layout, pack: pack)
        let mark = ForegroundMark(layout: store.layout, pack: pack)
        try await store.journal.recordDownload(of: pack, listedBy: offer.listing)
        let download = try await beginDownload(of: offer, to: file)
        observer(.began(pack.id))
        let progress = DownloadProgress(of: pack, observer)
        let start = ContinuousClock.now
        var deadline = start + Self.patience
        var raised: FileLock?
        var stalls = StallDetector()
        var isStalled = false
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
                if case .partial(let count) = try file.arrival() { progress.report(count) }
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
    ) async throws(VaultError) -> OpenFileReference {
        let pack = offer.pack
        var download = download
        let lockedFile: OpenFileReference
        do throws(VaultError) { lockedFile = try file.claim() } catch {
            let isLeft = try file.isLeftByAnotherUser
            guard error.category == .busy, bypassing || isLeft else { throw error }
            if let whole = try file.finishedFile() { return whole }
            // It needs the space of the whole pack again.
            guard try space.fits(pack.length, in: store.layout.ephemeral) else { throw error }
            lockedFile = try file.takeOver()
            download.reusable = reusablePieces(of: pack, besides: lockedFile.file.path, hasOthers: true)
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
            try? FileSystem.removeFile(done.file.path)
            throw VaultError.supersededByAnotherProcess(pack.id, in: store.layout)
        }
        return done
    }

    /// A downloader gives way to the app at any moment, also while its host sends nothing.
    private func complete(
        _ download: PackDownload, _ lockedFile: OpenFileReference, givingWayTo mark: ForegroundMark,
        _ progress: DownloadProgress
    ) async throws(VaultError) -> OpenFileReference {
        let work = { @Sendable () async throws(VaultError) -> OpenFileReference in
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

    /// A download without any request yet, and disk space for it.
    func beginDownload(of offer: LocatedPack, to file: DownloadFile) async throws(VaultError) -> PackDownload
    {
        let folder = store.layout.ephemeral
        try store.layout.makeEphemeral()
        try await space.make(for: file.missingCount, of: offer.pack.id, in: folder)
        let download = newDownload(of: offer, to: file)
        reusablePacks.note(offer.pack)
        return download
    }

    func newDownload(of offer: LocatedPack, to file: DownloadFile) -> PackDownload {
        PackDownload(
            transport: network.transport(for: offer.pack.id), file: file,
            sources: DownloadSources(offer.locations, retries: retries),
            budget: TransferBudget(
                of: offer.pack.id.description, length: offer.pack.length, parts: UInt64(offer.pack.pieceCount)
            ),
            observer: observer,
            reusable: reusablePieces(of: offer.pack, besides: store.layout.partialDownload(of: offer.pack)))
    }

    private func reusablePieces(
        of pack: PackManifest, besides file: FilePath, hasOthers: Bool = false
    ) -> ReusablePieces {
        reusablePacks.pieces(of: pack, besides: file, with: keys, hasOthers: hasOthers)
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
        if let loaded = record.loaded, loaded.pack.sha256 == offer.pack.sha256, isForm(loaded.form) {
            return true
        }
        return record.listing > offer.listing
    }
}
