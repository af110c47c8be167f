import SealedPack
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// A pack as a site lists it now, and where it is hosted.
struct OfferedPack: Sendable {
    let pack: PackDescriptor
    let version: ListingVersion
    /// Its mirrors, the best one first; not empty.
    let locations: [SiteLocation]
}

extension PackStager {
    /// How long somebody else's download may stand still before this one gives up.
    private static let patience = Duration.seconds(120)

    /// The whole, proven file in ephemeral storage. A download that another process has begun is adopted: a downloader
    /// gives it up to the app, and of what an app is downloading the end is waited for. Nil where a downloader leaves it to
    /// somebody else.
    func download(_ listing: OfferedPack) async throws(VaultError) -> OpenFileReference? {
        let pack = listing.pack
        let file = DownloadFile(layout: staging.layout, pack: pack)
        let mark = ForegroundMark(layout: staging.layout, pack: pack)
        try await staging.noteArrival(of: pack, listedBy: listing.version)
        var download = try await beginDownload(of: listing, to: file)
        if case .downloader = role { download.givesWayTo = mark }
        observer(.began(pack.id))
        var told: UInt64 = .max
        func tell(_ count: UInt64) {
            guard count != told else { return }
            told = count
            observer(.progress(pack.id, bytes: count, total: pack.length))
        }
        var deadline = ContinuousClock.now + Self.patience
        var raised: FileLock?
        while true {
            do throws(VaultError) {
                let claimed = try file.claim()
                StagingStep.downloadClaimed.reached()
                // Whoever had it may just have taken it on.
                if try await isDone(listing) {
                    try file.abandon(claimed)
                    throw staging.wasRemoved(pack)
                }
                let done = try await download.complete(claimed, progress: tell)
                _ = consume raised
                return done
            } catch {
                guard error.category == .busy else { throw error }
                guard case .app = role else { return nil }
                if raised == nil { raised = try mark.raise() }
                let before = told
                if case .partial(let count) = try file.arrival() { tell(count) }
                if try await isDone(listing) { throw staging.wasRemoved(pack) }
                if told != before { deadline = ContinuousClock.now + Self.patience }
                guard ContinuousClock.now < deadline else { throw error }
                do { try await Task.sleep(for: .milliseconds(50)) } catch {
                    throw VaultError.cancelled(pack.id.description)
                }
            }
        }
    }

    /// A download that has not asked for anything yet, and room for it.
    func beginDownload(of offer: OfferedPack, to file: DownloadFile) async throws(VaultError) -> PackDownload
    {
        let folder = staging.layout.ephemeral
        try staging.layout.makeEphemeral()
        try await staging.makeRoom(for: file.missingCount, of: offer.pack.id, in: folder)
        held.note(offer.pack)
        return await newDownload(of: offer, to: file)
    }

    func newDownload(of offer: OfferedPack, to file: DownloadFile) async -> PackDownload {
        PackDownload(
            transport: transport, file: file, sources: DownloadSources(offer.locations, retries: retries),
            observer: observer, held: held.packs(besides: offer.pack) + (await openedTrees(of: offer.pack)))
    }

    /// Other versions of the pack that stand opened, where the key is here. Whatever keeps one from being used only makes
    /// the download larger.
    private func openedTrees(of pack: PackDescriptor) async -> [any PieceSource] {
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
        guard let control = try? await staging.lock() else { return false }
        let record = try staging.records.record(of: listing.pack.id)
        _ = consume control
        if record.waiting?.sha256 == listing.pack.sha256 { return true }
        if let loaded = record.loaded, loaded.pack.sha256 == listing.pack.sha256, isForm(loaded.form) {
            return true
        }
        return record.listing > listing.version
    }
}
