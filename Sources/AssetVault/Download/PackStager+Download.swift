import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// A pack as a site lists it now, and where it is hosted.
struct OfferedPack: Sendable {
    let pack: PackManifest
    let version: ListingVersion
    /// Its mirrors, the best one first; not empty.
    let locations: [SiteLocation]
}

extension PackStager {
    /// How long somebody else's download may stand still before this one gives up.
    private static let patience = Duration.seconds(120)

    /// The whole, proven file in ephemeral storage. A download that another process has begun is adopted: a downloader
    /// gives it up to the app, of what an app is downloading the end is waited for, and a process that stands still is passed by.
    /// Nil where a downloader leaves it to somebody else.
    func download(_ listing: OfferedPack) async throws(VaultError) -> OpenFileReference? {
        let pack = listing.pack
        let file = DownloadFile(layout: store.layout, pack: pack)
        let mark = ForegroundMark(layout: store.layout, pack: pack)
        try await store.journal.recordDownload(of: pack, listedBy: listing.version)
        let download = try await beginDownload(of: listing, to: file)
        observer(.began(pack.id))
        let progress = DownloadProgress(of: pack, observer)
        var deadline = ContinuousClock.now + Self.patience
        var raised: FileLock?
        var standstill = StallDetector()
        var isStandingStill = false
        while true {
            do throws(VaultError) {
                let done = try await bring(
                    listing, download, to: file, passing: isStandingStill, givingWayTo: mark, progress)
                _ = consume raised
                return done
            } catch {
                guard error.category == .busy else { throw error }
                guard case .app = role else { return nil }
                if raised == nil { raised = try mark.raise() }
                let before = progress.count
                if case .partial(let count) = try file.arrival() { progress.report(count) }
                if try await isDone(listing) {
                    throw VaultError.takenByAnotherProcess(pack.id, in: store.layout)
                }
                isStandingStill = try standstill.isReached(by: file)
                if progress.count != before { deadline = ContinuousClock.now + Self.patience }
                guard ContinuousClock.now < deadline else { throw error }
                do { try await Task.sleep(for: .milliseconds(50)) } catch {
                    throw VaultError.cancelled(pack.id.description)
                }
            }
        }
    }

    /// One attempt, by the owner of the file. Throws `.busy` while somebody else has it, or went on with it.
    ///
    /// - Parameter passing: whether its owner stands still.
    private func bring(
        _ listing: OfferedPack, _ download: PackDownload, to file: DownloadFile, passing: Bool,
        givingWayTo mark: ForegroundMark, _ progress: DownloadProgress
    ) async throws(VaultError) -> OpenFileReference {
        let pack = listing.pack
        var download = download
        let claimed: OpenFileReference
        do throws(VaultError) { claimed = try file.claim() } catch {
            guard error.category == .busy, passing else { throw error }
            if let whole = try file.finishedFile() { return whole }
            // All of it comes to stand there once more.
            guard try space.fits(pack.length, in: store.layout.ephemeral) else { throw error }
            claimed = try file.takeOver()
            download.held = await sources(of: listing, besides: claimed.file.path)
        }
        StagingStep.downloadClaimed.reached()
        let place = claimed.file.path
        // A process that stood still leaves the download to the one that went on, and doesn't begin it again.
        if file.isTakenOver(from: place) { throw file.isTaken }
        // Its owner may just have taken it on.
        if try await isDone(listing) {
            try file.abandon(claimed)
            throw VaultError.takenByAnotherProcess(pack.id, in: store.layout)
        }
        download.isTakenOver = { () async throws(VaultError) in
            if file.isTakenOver(from: place) { return true }
            return try await isDone(listing)
        }
        let done = try await complete(download, claimed, givingWayTo: mark, progress)
        if try await isDone(listing) {
            try? file.abandon(done)
            throw VaultError.takenByAnotherProcess(pack.id, in: store.layout)
        }
        return done
    }

    /// A downloader gives way to the app at any moment, also at a host that sends nothing.
    private func complete(
        _ download: PackDownload, _ claimed: OpenFileReference, givingWayTo mark: ForegroundMark,
        _ progress: DownloadProgress
    ) async throws(VaultError) -> OpenFileReference {
        let work = { @Sendable () async throws(VaultError) -> OpenFileReference in
            var download = download
            return try await download.complete(claimed) { progress.report($0) }
        }
        guard case .downloader = role else { return try await work() }
        let result = await run(until: { await mark.waitUntilRaised() }, work)
        if let result { return try result.get() }
        if Task.isCancelled { throw VaultError.cancelled(download.pack.id.description) }
        throw VaultError(
            .busy, "the app took the download of '\(download.pack.id)' over",
            at: download.sources.location.description, remedy: "nothing needs to be done")
    }

    /// A download that has not asked for anything yet, and room for it.
    func beginDownload(of offer: OfferedPack, to file: DownloadFile) async throws(VaultError) -> PackDownload
    {
        let folder = store.layout.ephemeral
        try store.layout.makeEphemeral()
        try await space.make(for: file.missingCount, of: offer.pack.id, in: folder)
        held.note(offer.pack)
        return await newDownload(of: offer, to: file)
    }

    func newDownload(of offer: OfferedPack, to file: DownloadFile) async -> PackDownload {
        PackDownload(
            transport: transport, file: file, sources: DownloadSources(offer.locations, retries: retries),
            budget: TransferBudget(of: offer.pack),
            observer: observer,
            held: await sources(of: offer, besides: store.layout.partialDownload(of: offer.pack)))
    }

    /// What of the store may have pieces of a pack, beside the file that it is put together in.
    private func sources(of offer: OfferedPack, besides file: FilePath) async -> [any PieceSource] {
        held.packs(besides: offer.pack, in: file) + (await openedTrees(of: offer.pack))
    }

    /// Other versions of the pack that stand opened, where the key is here. Whatever keeps one from being used only makes
    /// the download larger.
    private func openedTrees(of pack: PackManifest) async -> [any PieceSource] {
        guard case .app(let keys?, _) = role else { return [] }
        let found = held.trees(of: pack)
        guard !found.isEmpty,
            let key = try? await keys.contentKey(
                pack.contentKeyID, slots: pack.slots, place: pack.id.description)
        else { return [] }
        return found.compactMap { tree in try? OpenedTree(tree.root, openedFrom: tree.tail, key: key) }
    }

    /// Whether somebody else took the pack on to shared storage, or further. Under the lock: a file is moved on before the
    /// record says so.
    private func isDone(_ listing: OfferedPack) async throws(VaultError) -> Bool {
        // Where somebody keeps the lock for long it is at worst downloaded twice.
        let found: PackRecord?
        do throws(VaultError) {
            found = try await store.withLock { () throws(VaultError) in
                try store.records.record(of: listing.pack.id)
            }
        } catch {
            guard error.category == .busy else { throw error }
            found = nil
        }
        guard let record = found else { return false }
        if record.waiting?.sha256 == listing.pack.sha256 { return true }
        if let loaded = record.loaded, loaded.pack.sha256 == listing.pack.sha256, isForm(loaded.form) {
            return true
        }
        return record.listing > listing.version
    }
}
