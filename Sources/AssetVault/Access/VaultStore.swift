public import SealedPack
import Synchronization
public import SystemPackage
public import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite

/// The packs that a client has fetched, without their site: it works offline, and with expired metadata.
///
/// One object serves any number of tasks. Keep it: it caches the sealed packs that it opened.
public final class VaultStore: Sendable {
    let layout: StoreLayout
    let keys: (any KeyProvider)?
    let trustedRoot: [UInt8]?
    private let followed: Mutex<ClientChoice>
    /// The channel, app version and device to follow; the store keeps values that are not given.
    var choice: ClientChoice {
        get { followed.withLock { $0 } }
        set { followed.withLock { $0 = newValue } }
    }
    /// What its readers read; nil where nothing is recorded.
    var reads: ReadRecord? {
        get { recorded.withLock { $0 } }
        set { recorded.withLock { $0 = newValue } }
    }
    private let recorded = Mutex<ReadRecord?>(nil)
    var storeAccess: StoreAccess { StoreAccess(layout: layout, role: .app) }
    let openPacks = OpenPackCache()
    private let uses = LastUseRecorder()
    /// Names as they were read, and the time and the size of their file.
    let knownNames = Mutex<(names: StoredNames, stamp: [Int64])?>(nil)
    /// Names of the site as a client reads it now. Nil once the store follows that: then the stored names count.
    let viewedNames = Mutex<StoredNames?>(nil)
    /// The versions that URLs were given for.
    let leasesOfURLs = Mutex<[FilePath: PackLease]>([:])

    /// - Parameters:
    ///   - keys: for sealed packs.
    ///   - trustedRoot: the site's root file, needed where only a downloader of another user has filled the store: it verifies those
    ///     packs.
    ///   - channel: the same for the channel that it follows, `appVersion` for the version of the app, and `device` for what
    ///     chooses among variants; nil for the store's.
    public init(
        _ layout: StoreLayout, keys: (any KeyProvider)? = nil, trustedRoot: [UInt8]? = nil,
        channel: Channel? = nil, appVersion: AppVersion? = nil, device: DeviceTraits? = nil
    ) {
        self.layout = layout
        self.keys = keys
        self.trustedRoot = trustedRoot
        followed = Mutex(ClientChoice(channel: channel, appVersion: appVersion, device: device))
    }

    /// All packs that were ever staged here, and those that the site listed when it was last asked, in order of their IDs.
    public func status() async throws(VaultError) -> [PackStatus] {
        var found: [PackStatus] = []
        var known: Set<PackID> = []
        let listings = try await listings
        // Without a lock file nothing was ever staged; a look creates nothing.
        for (id, record) in try hasStore ? await brought.records() : [] {
            known.insert(id)
            do throws(VaultError) { found.append(try status(of: id, record, listings(id))) } catch {
                var failed = record
                failed.failure = PackFailure(readingState: error)
                found.append(
                    PackStatus(
                        id: shownID(of: id), listedID: id, failed, listings(id), arrival: nil,
                        hasVersionsLeft: true, isOpening: false))
            }
        }
        for id in listings.ids where !known.contains(id) {
            found.append(try status(of: id, PackRecord(), listings(id)))
        }
        return withoutSuperseded(found).sorted { $0.id < $1.id }
    }

    /// What the stored metadata list.
    private struct Listings {
        let digests: [PackID: SHA256Digest]
        let areComplete: Bool
        let listedID: (PackID) -> PackID

        var ids: some Sequence<PackID> { digests.keys }

        func callAsFunction(_ id: PackID) -> PackListing {
            digests[listedID(id)].map(PackListing.listed) ?? (areComplete ? .unlisted : .unknown)
        }
    }

    private var listings: Listings {
        get async throws(VaultError) {
            let view = try await StoredSite(store: storeAccess, choice: choice).view()
            let (packs, areComplete) = try await view?.allPacks() ?? ([], false)
            return Listings(
                digests: Dictionary(
                    packs.map { ($0.pack.id, $0.pack.sha256) }, uniquingKeysWith: { first, _ in first }),
                areComplete: areComplete, listedID: listedID)
        }
    }

    /// The state of one pack; `.absent` for an unknown one.
    public func status(of id: PackID) async throws(VaultError) -> PackStatus {
        let id = presentID(of: id)
        let listing: PackListing
        if let view = try await storedSite.view() {
            do throws(VaultError) {
                let listed = try await view.pack(listedAs: listedID(of: id))
                listing = listed.map { .listed($0.pack.sha256) } ?? .unlisted
            } catch {
                guard error.meansIncompleteMetadata else { throw error }
                listing = .unknown
            }
        } else {
            listing = .unknown
        }
        return try status(of: id, hasStore ? await brought.record(of: id) : PackRecord(), listing)
    }

    /// The records, with what downloaders brought.
    var brought: BroughtPacks { BroughtPacks(site: storedSite) }

    var storedSite: StoredSite {
        StoredSite(store: storeAccess, trustedRoot: trustedRoot, choice: choice)
    }

    /// Whether the store was ever locked.
    var hasStore: Bool {
        get throws(VaultError) {
            for path in layout.locks(of: .app) where try FileSystem.exists(path) { return true }
            return false
        }
    }

    private func status(
        of id: PackID, _ record: PackRecord, _ listing: PackListing
    ) throws(VaultError) -> PackStatus {
        var arrival: DownloadFile.Arrival?
        if let arriving = record.arriving {
            arrival = try DownloadFile(layout: layout, pack: arriving).arrival()
        }
        let hasVersionsLeft = try record.isRemoved ? storeAccess.records.hasVersions(id) : false
        // A process that opens a pack has a locked scratch folder beside its versions.
        let isOpening = try VersionFolder(of: id, in: layout)?.folder.hasScratchInUse() ?? false
        return PackStatus(
            id: shownID(of: id), listedID: id, record, listing, arrival: arrival,
            hasVersionsLeft: hasVersionsLeft, isOpening: isOpening)
    }

    /// Whether a version of the pack is ready for use.
    func isLoaded(_ id: PackID) throws(VaultError) -> Bool {
        try FileSystem.status(of: layout.current(of: id), followingLinks: true) != nil
    }

    /// The packs of which no version is ready for use, under a public name or an opaque one.
    func notLoaded(of ids: [PackID]) throws(VaultError) -> [PackID] {
        var found: [PackID] = []
        for id in ids where try !isLoaded(presentID(of: id)) { found.append(id) }
        return found
    }

    /// The stable path of a pack in permanent storage: a link to its live version, which an update may replace at any
    /// moment. Throws `.missing` before it is loaded.
    public func path(of id: PackID) throws(VaultError) -> FilePath {
        let id = presentID(of: id)
        guard try isLoaded(id) else { throw .notLoaded(shownID(of: id), at: layout.current(of: id)) }
        return layout.current(of: id)
    }

    /// Holds the live version of a pack: for reading several files that belong together. Throws `.missing` before it is loaded, `.key`
    /// where its key is missing.
    @concurrent public func held(_ id: PackID) async throws(VaultError) -> HeldPack {
        do throws(VaultError) { return HeldPack(try await loadedLease(of: id), in: self) } catch {
            guard error.category == .missing, let missingKey = try? await missingKey(of: listedID(of: id))
            else { throw error }
            throw shown(missingKey)
        }
    }

    /// Why a pack that is not loaded could not be opened; nil where no key is missing, or nothing is known of the pack.
    private func missingKey(of id: PackID) async throws(VaultError) -> VaultError? {
        let record = try await hasStore ? brought.record(of: id) : PackRecord()
        guard !record.isRemoved else { return nil }
        guard let keys else { return record.waiting == nil ? nil : .awaitingKey(id) }
        var pack = record.waiting
        if pack == nil {
            pack = try await storedSite.view()?.pack(listedAs: id)?.pack
        }
        guard let pack else { return nil }
        var matches = await KeyMatches(keys)
        return await matches.missingKey(of: pack).map { error in
            error.with(problem: "the key does not open it: \(error.problem)")
        }
    }

    /// Throws `.missing` for any pack that is not loaded.
    @concurrent func loadedLease(of id: PackID) async throws(VaultError) -> PackLease {
        let id = presentID(of: id)
        let lease = try await PackLease.acquire(id, named: shownID(of: id), in: layout)
        noteUse(of: lease)
        return lease
    }

    func noteUse(of lease: PackLease) { uses.note(lease.listedID, in: layout) }
}
