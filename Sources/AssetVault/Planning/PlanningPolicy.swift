import VaultTransport

/// What a client may take up. No limit stands where none is given.
public struct PlanningPolicy: Sendable {
    /// Bytes of the initial set of essential downloads, the metadata included.
    public var essentialDownloadAllowance: UInt64?
    /// Bytes of the initial set of all other downloads.
    public var downloadAllowance: UInt64?
    /// Bytes of all essential packs once opened. File systems need somewhat more than that.
    public var essentialInstalledSize: UInt64?
    /// Bytes of all other packs once opened.
    public var installedSize: UInt64?

    /// Whether packs may be downloaded from there.
    var isAllowed: @Sendable (SiteLocation) -> Bool = { _ in true }

    public init(
        essentialDownloadAllowance: UInt64? = nil, downloadAllowance: UInt64? = nil,
        essentialInstalledSize: UInt64? = nil, installedSize: UInt64? = nil
    ) {
        self.essentialDownloadAllowance = essentialDownloadAllowance
        self.downloadAllowance = downloadAllowance
        self.essentialInstalledSize = essentialInstalledSize
        self.installedSize = installedSize
    }
}
