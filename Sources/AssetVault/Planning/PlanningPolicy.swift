import SealedPack
public import VaultTransport

/// Limits of a client. Nil means no limit.
public struct PlanningPolicy: Sendable {
    /// Bytes of the initial set of essential downloads, with the metadata that were downloaded: counts for a downloader's `.install`
    /// only. The lengths of files count, not what they take on the disk.
    public var essentialDownloadAllowance: UInt64?
    /// Bytes of the initial set of all other downloads: counts for a downloader's `.install` only.
    public var downloadAllowance: UInt64?
    /// Bytes that one call may download of packs over a metered network (``NetworkPolicy/metered``). Of an update only missing
    /// bytes count. It limits the plan and the transfer itself: all bytes of packs that a host sends count, also useless ones. If
    /// the rest does not suffice, a download ends with `.limit`, and its partial file stays for the next call. Where a host does not say
    /// how much it sends, up to 256 KiB more may come: so much is read at once.
    public var meteredAllowance: UInt64?
    /// Bytes of all essential packs once opened. File systems need somewhat more than that.
    public var essentialInstalledSize: UInt64?
    /// Bytes of all other packs once opened.
    public var installedSize: UInt64?

    /// The only hosts that metadata and packs may come from, by redirects too. A transport of the app's own gets them with each
    /// request (`TransportRequest.allowedHosts`).
    public var allowedHosts: AllowedHosts?

    /// Bytes of all packs once opened that resource requests may have in access together, in all processes.
    public var accessedSize: UInt64?
    /// Bytes that stay free on each disk: purgeable packs are removed before less is free.
    public var lowWaterMark: UInt64 = 16 << 20

    /// Whether packs that were not requested, and that none of the given keys opens, are downloaded, to wait for their key.
    /// Requested packs always are; a client without any keys, such as a downloader, downloads all packs.
    public var preloadsLockedPacks = false
    /// Whether all packs of a selection become ready for use together, in one step, as those of a tag do in any update: if one of them
    /// fails, the versions before stay in use. The disk needs room for both.
    public var updatesTogether = false

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

/// Why the system starts a downloader.
public enum ContentRequest: String, Sendable, CaseIterable {
    /// The app was installed and was not used yet.
    case install
    /// The app was replaced by a newer one and was not used since.
    case update
    /// Time has passed.
    case periodic
}

/// The reason for a plan: a request of the app, or the start of a downloader.
enum PlanTrigger: Sendable {
    case downloader(ContentRequest)
    case app(PackSelection)

    /// Whether this brings the initial set of downloads, which alone the allowances limit.
    var isInitial: Bool {
        if case .downloader(.install) = self { true } else { false }
    }

    /// Whether the app was not used since it was installed or replaced: only then do essential packs get the priority ``PackPriority/essential``.
    var isBeforeFirstUse: Bool {
        switch self {
        case .downloader(.install), .downloader(.update): true
        case .downloader(.periodic), .app: false
        }
    }

    /// Whether the app asks for these packs: by name, or for all. Then removed packs and those whose key is missing are downloaded, too.
    var isRequest: Bool {
        if case .app(.all) = self { true } else { named != nil }
    }

    /// The packs that the app waits for; nil when it names none.
    var named: Set<PackID>? {
        if case .app(.only(let ids)) = self { Set(ids) } else { nil }
    }
}
