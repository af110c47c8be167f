import SealedPack
import UpdateFramework
import VaultBase
import VaultSite

/// A site with its mirrors: each refresh gives a view by metadata that were just verified.
struct LiveSite: Sendable {
    /// The best one first; not empty.
    let mirrors: [Site]
    let trust: MetadataStore
    private let trustedRoot: [UInt8]?
    /// For metadata. Nil: one attempt per mirror, because the next mirror is the retry.
    private let retries: RetryPolicy?
    private let choice: ClientChoice
    private let store: StoreAccess

    /// At most 3 attempts a file, because an app waits for it at its start.
    private static let metadataAttempts = 3
    /// How long a host may ask it to wait. Loaded packs do not depend on it.
    private static let longestWait = Duration.seconds(5)

    init(_ configuration: VaultConfiguration, in store: StoreAccess, over network: NetworkGate) {
        let transport = network.transport(for: nil)
        mirrors = configuration.locations.map { Site($0, transport: transport) }
        var retries = configuration.retries
        retries.attempts = min(retries.attempts, Self.metadataAttempts)
        retries.longestRequestedWait = min(retries.longestRequestedWait, Self.longestWait)
        self.retries = mirrors.count == 1 ? retries : nil
        self.store = store
        trust = store.metadata
        trustedRoot = configuration.trustedRoot
        choice = configuration.listingChoice
    }

    /// Updates the trusted metadata from the first mirror that works. Each is asked by itself, so that metadata of two are never
    /// mixed. Throws the error of the first one; `.missing` for a channel that the site does not have.
    func refresh() async throws(VaultError) -> SiteView {
        let now = UTCTime.now
        try store.prepareMetadata()
        if trustedRoot == nil { try await store.adoptPin() }
        var firstError: VaultError?
        for mirror in mirrors {
            // A new `Site` has a new `ThroughputMeter`: the throughput of the host counts for this refresh alone.
            let site = Site(mirror.location, transport: mirror.transport, retries: retries)
            do throws(VaultError) {
                let chain = try await trust.refresh(from: site, trusting: trustedRoot, now: now)
                return try await SiteView(
                    of: chain, choosing: StoredClientChoice(of: store).completing(choice),
                    lookup: trust.lookup(from: site, now: now),
                    at: [site] + mirrors.filter { $0.location != site.location }, in: store)
            } catch {
                firstError = firstError ?? error
                guard error.isHostFailure || error.category == .untrusted else { break }
            }
        }
        throw firstError ?? VaultError(.usage, "no site was named", at: "site", remedy: "name one")
    }

    /// A pack whose manifest was verified when it was staged, at the place where it was hosted then.
    func locate(recorded pack: PackManifest, listedBy listing: ListingVersion) throws(VaultError)
        -> LocatedPack
    {
        var segments = pack.id.targetPath.split(separator: "/").map(String.init)
        segments[segments.count - 1] = "\(pack.sha256.hex).\(segments[segments.count - 1])"
        let path = segments.joined(separator: "/")
        var locations: [SiteLocation] = []
        for site in mirrors { locations.append(try site.location.appending("targets/\(path)")) }
        return LocatedPack(pack: pack, listing: listing, locations: locations)
    }

    /// For a caller that names a device by hand: if it states a trait for the first time, the site is asked.
    fileprivate func requireKnownTraits(
        of device: DeviceTraits?, within time: Duration?,
        by view: @escaping @Sendable () async throws(VaultError) -> SiteView
    ) async throws(VaultError) {
        guard let device else { return }
        let stated = StoredClientChoice(of: store).newTraits(of: device)
        guard !stated.isEmpty else { return }
        try await withTimeLimit(time, at: "device") { () throws(VaultError) in
            try await view().requireKnownTraits(stated)
        }
    }
}

extension VaultClient {
    /// For a caller who names a device by hand: where it states a trait for the first time, refreshes the metadata, and throws `.usage` for one
    /// that no listed pack has. Nothing is recorded. An app may state traits that its site does not use yet.
    ///
    /// - Parameter time: how long it may take; then `.busy` is thrown.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        try await site.requireKnownTraits(of: configuration.device, within: time) { () throws(VaultError) in
            try await self.updateListing()
        }
    }
}

extension PackDownloader {
    /// See ``VaultClient/requireKnownTraits(within:)``.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        try await site.requireKnownTraits(of: configuration.device, within: time) { () throws(VaultError) in
            try await site.refresh()
        }
    }
}
