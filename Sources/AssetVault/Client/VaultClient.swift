import SealedPack
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// Fetches the packs of a site, proves them, opens them with injected keys and keeps them ready for use.
///
/// A client believes nothing but its trusted root: from it follow the metadata, from the metadata every length and
/// digest. Any number of clients, in any number of processes, may use one store; each may be killed at any moment.
public actor VaultClient {
    private let configuration: VaultConfiguration
    private let staging: PackStaging
    /// What was fetched, for reading.
    public nonisolated let store: VaultStore

    /// How long another process may take for a download that this one wants, too.
    private static let patience = Duration.seconds(600)

    public init(_ configuration: VaultConfiguration) {
        self.configuration = configuration
        staging = PackStaging(layout: configuration.store)
        store = VaultStore(configuration.store, keys: configuration.keys)
    }

    /// Brings the trusted metadata up to date. Throws `.untrusted` for whatever can't be believed, `.unavailable`.
    /// - Parameter now: the moment at which nothing may have expired.
    @discardableResult
    public func refresh(now: UTCTime = .now) async throws(VaultError) -> TrustChain {
        try FileSystem.createFolders(configuration.store.shared, permissions: 0o700)
        return try await trust.refresh(from: site, trusting: configuration.trustedRoot, now: now)
    }

    /// Refreshes trust and brings the selected packs as far as it can: into permanent storage with a key,
    /// else into shared storage. Packs that are there already cost nothing. A pack that fails leaves the others
    /// and its own earlier version as they were; the first error is thrown when all were tried.
    public func fetch(
        _ selection: PackSelection = .automatic, now: UTCTime = .now,
        onEvent: @Sendable (VaultEvent) -> Void = { _ in }
    ) async throws(VaultError) {
        try await staging.recover()
        let chain = try await refresh(now: now)
        let selected = try await SelectedPacks(selection, of: site, in: chain, trust: trust, now: now)
        let loaded = await staging.loaded(
            among: selected.listings.map(\.pack), as: configuration.form, listedBy: ListingVersion(chain))
        var firstError = selected.refusals.first
        var work: ScratchFile?
        for listing in selected.listings {
            let id = listing.pack.id
            guard !loaded.contains(id) else {
                onEvent(.finished(id, .loaded))
                continue
            }
            do throws(VaultError) {
                if work == nil { work = try staging.beginWork() }
                try await staging.recover(id)
                try await stagePatiently(listing, in: chain, onEvent)
            } catch {
                firstError = firstError ?? error
                try? await noteFailure(error, of: id)
                onEvent(.finished(id, .failed))
            }
        }
        _ = consume work
        if let firstError { throw firstError }
        try staging.clearEphemeral()
    }

    private var trust: MetadataStore { MetadataStore(folder: configuration.store.trust) }

    private var site: Site { Site(configuration.site, transport: configuration.transport) }

    /// Stages one pack; while another process downloads it, waits for what that brings.
    private func stagePatiently(
        _ listing: PublishedPacks.Listing, in chain: TrustChain, _ onEvent: @Sendable (VaultEvent) -> Void
    ) async throws(VaultError) {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(VaultError) {
                return try await stage(listing, in: chain, onEvent)
            } catch {
                guard error.category == .busy, ContinuousClock.now < deadline else { throw error }
                do { try await Task.sleep(for: .milliseconds(200)) } catch {
                    throw VaultError.cancelled(listing.pack.id.description)
                }
            }
        }
    }

    /// Takes one pack from wherever it is to where it belongs.
    private func stage(
        _ published: PublishedPacks.Listing, in chain: TrustChain, _ onEvent: @Sendable (VaultEvent) -> Void
    ) async throws(VaultError) {
        let pack = published.pack
        let listing = ListingVersion(chain)
        let record = try staging.records.record(of: pack.id)
        guard record.listing <= listing else {
            return try await followFaster(record, of: pack.id, onEvent)
        }
        if record.isLoaded(pack, as: configuration.form, listedBy: listing) {
            return onEvent(.finished(pack.id, .loaded))
        }
        if let loaded = record.loaded, loaded.pack.sha256 == pack.sha256,
            loaded.form == configuration.form || configuration.keys == nil
        {
            try await staging.settle(pack, listedBy: listing)
            return onEvent(.finished(pack.id, .loaded))
        }
        let file = try await sharedPack(of: published, after: record, in: chain, onEvent)
        try await transfer(file, of: pack, listedBy: listing, onEvent)
    }

    /// A process with newer metadata was faster: what it decided stays, and what it left for a key is opened.
    private func followFaster(
        _ record: PackRecord, of id: PackID, _ onEvent: @Sendable (VaultEvent) -> Void
    ) async throws(VaultError) {
        guard let waiting = record.waiting, let file = try provenPack(waiting) else {
            return onEvent(.finished(id, PackStatus(id: id, record).state))
        }
        try await transfer(file, of: waiting, listedBy: record.listing, onEvent)
    }

    /// Shared to permanent, where there is a key.
    private func transfer(
        _ file: OpenFileReference, of pack: PackDescriptor, listedBy listing: ListingVersion,
        _ onEvent: @Sendable (VaultEvent) -> Void
    ) async throws(VaultError) {
        guard let keys = configuration.keys else { return onEvent(.finished(pack.id, .toBeTransferred)) }
        let source = try await OpenPack(
            try PackFile(file, as: pack, named: pack.id.description), keys: keys)
        switch configuration.form {
        case .opened:
            try await staging.open(source, of: pack, listedBy: listing) { done in
                onEvent(.opening(pack.id, bytes: done, total: pack.openedSize))
            }
        case .sealed:
            try await staging.keepSealed(file, of: pack, listedBy: listing)
        }
        onEvent(.finished(pack.id, .loaded))
    }

    /// The pack in shared storage, proven: it waits there already, or is downloaded.
    private func sharedPack(
        of listing: PublishedPacks.Listing, after record: PackRecord, in chain: TrustChain,
        _ onEvent: @Sendable (VaultEvent) -> Void
    ) async throws(VaultError) -> OpenFileReference {
        let pack = listing.pack
        if let waiting = try provenPack(pack) {
            if record.waiting != pack || record.failure != nil {
                try await staging.share(waiting, of: pack, listedBy: ListingVersion(chain))
            }
            return waiting
        }
        try FileSystem.createFolders(configuration.store.ephemeral, permissions: 0o700)
        let download = PackDownload(
            transport: configuration.transport, location: try site.location(of: listing.target, in: chain),
            pack: pack,
            path: configuration.store.partialDownload(of: pack))
        let file = try await download.run { done in
            onEvent(.downloading(pack.id, bytes: done, total: pack.length))
        }
        try await staging.share(file, of: pack, listedBy: ListingVersion(chain))
        guard let shared = try staging.waitingPack(pack) else { throw staging.wasRemoved(pack) }
        return shared
    }

    /// The pack that waits in shared storage. Whoever put it there proved it, but disks forget: a damaged one goes away.
    private func provenPack(_ pack: PackDescriptor) throws(VaultError) -> OpenFileReference? {
        guard let waiting = try staging.waitingPack(pack) else { return nil }
        if try waiting.file.status().size == pack.length, try waiting.file.sha256() == pack.sha256 {
            return waiting
        }
        try FileSystem.unlink(waiting.file.path)
        return nil
    }

    private func noteFailure(_ error: VaultError, of id: PackID) async throws(VaultError) {
        let control = try await staging.lock()
        var record = try staging.records.record(of: id)
        record.failure = error.problem
        try staging.records.save(record, of: id)
        _ = consume control
    }
}
