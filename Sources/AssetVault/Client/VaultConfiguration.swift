public import SealedPack
import VaultBase
public import VaultCrypto
public import VaultSite
public import VaultTransport

/// The settings of a client.
public struct VaultConfiguration: Sendable {
    /// Where the site is hosted.
    public var site: SiteLocation
    /// Other hosts of the same site, asked when the first one fails: for metadata as for packs.
    public var mirrors: [SiteLocation] = []
    /// Where packs are kept.
    public var store: StoreLayout
    /// The site's root file, which came with the app. Needed for the first refresh only: the store pins it.
    public var trustedRoot: [UInt8]?
    /// Where keys come from; without them packs wait in shared storage.
    public var keys: (any KeyProvider)?
    /// The form of packs in permanent storage; nil keeps the form of the earlier version, and opens a new pack.
    public var form: PackForm?
    /// The list of packs that the site offers, such as a beta. Nil goes on with the store's, at first `Channel.live`. The store
    /// remembers it, as the app version and the device, once a fetch, a request or ``VaultClient/refresh()`` has read the site with it.
    public var channel: Channel?
    /// The version of the app: of packs that are listed in several versions it takes the one for it, and packs for other app
    /// versions only are not fetched. Nil keeps the store's value; without any the newest is taken.
    public var appVersion: AppVersion?
    /// What the device states of itself: of packs that are variants of each other only the one that fits it is fetched, unless
    /// others are named. Nil keeps the store's value; without any it is a device that states nothing, which gets the fallbacks
    /// (``VaultClient/unstatedTraits`` says so). All variants are fetched only for `DeviceTraits.allVariants`.
    public var device: DeviceTraits?
    /// How much may be downloaded and installed, and from where.
    public var policy = PlanningPolicy()
    /// What may be used of the network at first; see ``VaultClient/network``.
    public var network = NetworkPolicy.unrestricted
    /// Records which files are read; nil for nothing.
    public var reads: ReadRecord?
    /// Number of packs that are staged at a time.
    public var packsAtOnce = 4
    /// When a failed transfer is tried again.
    public var retries = RetryPolicy()
    /// How long to wait for another process that is changing the store.
    public var patience = Duration.seconds(30)
    /// Reads the files of the site and its mirrors.
    public var transport: any Transport

    public init(
        site: SiteLocation, store: StoreLayout, trustedRoot: [UInt8]? = nil, keys: (any KeyProvider)? = nil,
        transport: any Transport = Self.standardTransport
    ) {
        self.site = site
        self.store = store
        self.trustedRoot = trustedRoot
        self.keys = keys
        self.transport = transport
    }

    var listingChoice: ClientChoice {
        ClientChoice(channel: channel, appVersion: appVersion, device: device)
    }

    /// The transport, restricted to the hosts that the policy allows.
    var effectiveTransport: any Transport {
        policy.allowedHosts.map { RestrictedTransport(transport, to: $0) } ?? transport
    }

    /// All hosts that may be asked.
    var locations: [SiteLocation] { ([site] + mirrors).filter(policy.allows) }

    /// Throws `.usage` for settings that can't work.
    func validate() throws(VaultError) {
        let areas = [store.ephemeral, store.shared, store.permanent]
        guard areas.allSatisfy({ !$0.isEmpty }), Set(areas).count == areas.count else {
            throw VaultError(
                .usage, "the three areas of a store must be three folders", at: store.shared.string,
                remedy: "name a folder of its own for each")
        }
        guard packsAtOnce > 0 else {
            throw VaultError(
                .usage, "no pack may be worked on", at: "packsAtOnce", remedy: "set it to 1 or more")
        }
        guard !locations.isEmpty else {
            throw VaultError(
                .usage, "the site is on none of the allowed hosts", at: site.description,
                remedy: "allow its host, or use a site on an allowed one")
        }
    }
}
