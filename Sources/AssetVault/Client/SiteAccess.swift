import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// A site with its mirrors, and its verified metadata.
struct SiteAccess: Sendable {
    /// The best one first; not empty.
    let mirrors: [Site]
    let trust: MetadataStore
    let trustedRoot: [UInt8]?
    /// Of metadata. Nil: one attempt per mirror, since the next mirror is the retry.
    private let retries: RetryPolicy?
    private let choice: ListingChoice
    let store: StoreAccess
    var role: StoreRole { store.role }

    /// At most 3 attempts a file, because an app waits for it at its start.
    private static let metadataAttempts = 3
    /// How long a host may ask it to wait: what is loaded needs none of that.
    private static let longestWait = Duration.seconds(5)

    /// The packs of a site, by metadata that were just verified.
    struct Listing: Sendable {
        /// As clients of the followed channel see it.
        let chain: TrustChain
        /// With all channels.
        let siteChain: TrustChain
        /// The mirror that sent the metadata.
        let site: Site
        /// What was asked for, completed by what the store remembers.
        let choice: ListingChoice
        /// Whether the channel lists keyed digests for the names of its packs (quiet names); nil where its role could not be read,
        /// so that no pack of the site's own is known.
        let hasQuietNames: Bool?
        /// What they stand for; nil where names are public, and until the table was read.
        var names: PackNames?
        /// Why the names may not be those of this listing; nil where they are, or where names are public.
        var missingNames: VaultError?
        let now: UTCTime

        /// Of the app; see ``VaultConfiguration/appVersion``.
        var appVersion: AppVersion? { choice.appVersion }
        /// Chooses among variants.
        var device: DeviceTraits { choice.decidingDevice }
        var version: ListingVersion { ListingVersion(chain) }
        /// See ``VaultClient/contestedVersion``.
        var contestedVersion: Int64? { chain.isContested ? chain.timestamp.version : nil }
    }

    init(_ configuration: VaultConfiguration, in store: StoreAccess, over network: NetworkAccess) {
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
    func refresh(now: UTCTime) async throws(VaultError) -> Listing {
        try store.prepareMetadata()
        if trustedRoot == nil { try await store.adoptPin() }
        var firstError: VaultError?
        for mirror in mirrors {
            // A new `Site` has a new `ThroughputMeter`: the throughput of the host counts for this refresh alone.
            let site = Site(mirror.location, transport: mirror.transport, retries: retries)
            do throws(VaultError) {
                let chain = try await trust.refresh(from: site, trusting: trustedRoot, now: now)
                return try await adoptListing(of: chain, at: site, now: now)
            } catch {
                firstError = firstError ?? error
                guard error.isHostFailure || error.category == .untrusted else { break }
            }
        }
        throw firstError ?? VaultError(.usage, "no site was named", at: "site", remedy: "name one")
    }

    /// What clients of the channel see.
    private func adoptListing(
        of siteChain: TrustChain, at site: Site, now: UTCTime
    ) async throws(VaultError) -> Listing {
        let choice = try StoredListingChoice(of: store).completing(choice)
        let channel = choice.channel ?? .live
        let chain = try siteChain.following(channel)
        let hasQuietNames: Bool?
        do throws(VaultError) {
            hasQuietNames = try await trust.lookup(from: site, now: now).hasQuietNames(channel, in: chain)
        } catch {
            // Whoever looks for packs gets the error.
            if Task.isCancelled { throw error }
            hasQuietNames = nil
        }
        return Listing(
            chain: chain, siteChain: siteChain, site: site, choice: choice, hasQuietNames: hasQuietNames,
            names: hasQuietNames == false ? nil : try StoredNames(of: store)?.names, now: now)
    }

    /// Records the choice of channel, app version and device by which a listing was read: the store follows it from now on.
    func record(_ listing: Listing) throws(VaultError) {
        try StoredListingChoice(of: store).record(listing.choice)
    }

    /// Of the delegated roles, at the mirror that sent the metadata.
    func lookup(in listing: Listing) -> TargetLookup { trust.lookup(from: listing.site, now: listing.now) }

    /// One pack. Of a large site only the delegated metadata that may list it are read. Throws `.missing` for a pack that the
    /// site does not list.
    func offer(of id: PackID, in listing: Listing) async throws(VaultError) -> LocatedPack {
        let listedID = listing.names?.listedID(of: id) ?? id
        let id = listing.names?.shownID(of: listedID) ?? id
        let record = try await lookup(in: listing).target(at: listedID.targetPath, in: listing.chain)
        if let record {
            let listed = try ListedPack.readable(in: record, granting: TagGrants(in: listing.chain))
            if let offer = try offer(listed, in: listing) { return offer }
            throw VaultError(
                .missing,
                "version \(listing.appVersion ?? .first) of the app is too old or too new for what the site lists",
                at: id.description, remedy: "use another version of the app; what is loaded stays")
        }
        if let missingNames = listing.missingNames { throw missingNames }
        let tree = try await lookup(in: listing).tree(of: listing.chain)
        throw VaultError(
            .missing, "the site lists no pack '\(id)'", at: id.description,
            remedy: Self.choice(among: tree.records, listing.names))
    }

    /// The pack with the table of quiet names; nil where the channel lists none.
    func namesOffer(in listing: Listing) async throws(VaultError) -> LocatedPack? {
        let id = try PackID(PackNames.packID)
        let record = try await lookup(in: listing).target(at: id.targetPath, in: listing.chain)
        return try record.flatMap { record throws(VaultError) in
            try offer(ListedPack.readable(in: record, granting: TagGrants(in: listing.chain)), in: listing)
        }
    }

    private static func choice(among records: [TargetRecord], _ names: PackNames?) -> String {
        let ids = records.compactMap { PackID(targetPath: $0.path) }
            .filter { names == nil || $0.description != PackNames.packID }
            .map { names?.shownID(of: $0) ?? $0 }.sorted().map(\.description)
        return ids.isEmpty ? "it lists none at all" : "choose among \(ids.listed(upTo: 8))"
    }

    /// A pack whose manifest was verified when it was staged, at the place where it was hosted then.
    func offer(recorded pack: PackManifest, listedBy listing: ListingVersion) throws(VaultError)
        -> LocatedPack
    {
        var segments = pack.id.targetPath.split(separator: "/").map(String.init)
        segments[segments.count - 1] = "\(pack.sha256.hex).\(segments[segments.count - 1])"
        let path = segments.joined(separator: "/")
        var locations: [SiteLocation] = []
        for site in mirrors { locations.append(try site.location.appending("targets/\(path)")) }
        return LocatedPack(pack: pack, listing: listing, locations: locations)
    }

    /// The version of a pack for this app, with all mirrors of its file: the one that sent the metadata is asked first. Nil
    /// where none is for it.
    func offer(_ listed: ListedPack, in listing: Listing) throws(VaultError) -> LocatedPack? {
        guard let pack = listed.version(for: listing.appVersion) else { return nil }
        let target = try ListedPack(pack).target
        var sites = [listing.site]
        for site in mirrors where site.location != listing.site.location { sites.append(site) }
        var locations: [SiteLocation] = []
        for site in sites {
            locations.append(try site.location(of: target, in: listing.chain))
        }
        let named = listing.names?.completing(pack) ?? pack
        return LocatedPack(
            pack: named, listing: listing.version, locations: locations, rank: listed.rank)
    }
}
