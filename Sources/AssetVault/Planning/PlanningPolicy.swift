public import VaultTransport

/// Limits of a client. Nil means no limit.
public struct PlanningPolicy: Sendable {
    /// Bytes of the initial set of essential downloads, the metadata included: counts for a downloader's `.install` only.
    public var essentialDownloadAllowance: UInt64?
    /// Bytes of the initial set of all other downloads: counts for a downloader's `.install` only.
    public var downloadAllowance: UInt64?
    /// Bytes of all essential packs once opened. File systems need somewhat more than that.
    public var essentialInstalledSize: UInt64?
    /// Bytes of all other packs once opened.
    public var installedSize: UInt64?

    /// The only hosts that metadata and packs may come from, by redirects too. A transport of the app's own is handed them
    /// with each request (``TransportRequest/allowedHosts``).
    public var allowedHosts: AllowedHosts?

    /// Whether prefetch packs whose key is missing are downloaded, to wait for it. Essential and requested packs always
    /// are, and a downloader, which has no keys, downloads all alike.
    public var preloadsLockedPacks = false

    public init(
        essentialDownloadAllowance: UInt64? = nil, downloadAllowance: UInt64? = nil,
        essentialInstalledSize: UInt64? = nil, installedSize: UInt64? = nil,
        allowedHosts: AllowedHosts? = nil
    ) {
        self.allowedHosts = allowedHosts
        self.essentialDownloadAllowance = essentialDownloadAllowance
        self.downloadAllowance = downloadAllowance
        self.essentialInstalledSize = essentialInstalledSize
        self.installedSize = installedSize
    }

    func allows(_ location: SiteLocation) -> Bool { allowedHosts?.allows(location) ?? true }
}
