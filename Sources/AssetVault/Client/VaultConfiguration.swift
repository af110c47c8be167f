public import VaultKeys
public import VaultTransport

/// What a client needs to know.
public struct VaultConfiguration: Sendable {
    /// Where the site is hosted.
    public var site: SiteLocation
    /// Where packs are kept.
    public var store: StoreLayout
    /// The site's root file, which came with the app. Needed for the first refresh only: the store pins it.
    public var trustedRoot: [UInt8]?
    /// Where keys come from; without them packs stop in shared storage.
    public var keys: (any KeyProvider)?
    /// How packs stand in permanent storage.
    public var form: PackForm = .opened
    public var transport: any Transport

    public init(
        site: SiteLocation, store: StoreLayout, trustedRoot: [UInt8]? = nil, keys: (any KeyProvider)? = nil,
        transport: any Transport = SchemeTransport()
    ) {
        self.site = site
        self.store = store
        self.trustedRoot = trustedRoot
        self.keys = keys
        self.transport = transport
    }
}
