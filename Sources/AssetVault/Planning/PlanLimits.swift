import SealedPack
import VaultTransport

/// The use of a policy's limits by the packs of a plan.
struct PlanLimits {
    private var allowances: Shares
    private var installedSizes: Shares
    private var meteredBytes: ByteCount
    private let isInitial: Bool
    private let isMetered: Bool
    private let sources: [SiteLocation]
    private let hasAllowedSource: Bool

    init(_ input: PlanInput) {
        let policy = input.policy
        isMetered = input.network == .metered
        meteredBytes = ByteCount(limit: policy.meteredAllowance)
        isInitial = input.trigger.isInitial
        sources = input.sources
        hasAllowedSource = sources.contains(where: policy.allows)
        allowances = Shares(essential: policy.essentialDownloadAllowance, others: policy.downloadAllowance)
        allowances[true].add(input.metadataBytes)
        installedSizes = Shares(essential: policy.essentialInstalledSize, others: policy.installedSize)
    }

    /// Counts a pack that stays loaded, or will be loaded.
    /// - Parameter bytes: its size once opened, or that of the version that stays until then.
    mutating func countInstalled(_ bytes: UInt64, of pack: PackManifest) {
        installedSizes[pack.offer.policy == .essential].add(bytes)
    }

    /// Counts a pack that was downloaded with the initial set: a downloader that was killed resumes the same set.
    mutating func countTransferred(_ transfer: PlannedTransfer) {
        allowances[transfer.pack.offer.policy == .essential].add(transfer.pack.length)
    }

    /// Counts a download if no limit forbids it. All its bytes count, also those that are here; on a metered network only missing bytes.
    /// An essential pack that failed still counts as essential.
    ///
    /// - Returns: nil if it is admitted, else the reason.
    /// - Parameter cost: bytes that are still to be downloaded.
    mutating func admit(_ download: PlannedDownload, costing cost: UInt64) -> PlanRefusal.Reason? {
        guard hasAllowedSource else { return .noAllowedSource(sources) }
        let pack = download.pack
        let isEssential = pack.offer.policy == .essential
        let allowance = allowances[isEssential]
        if isInitial, let limit = allowance.limitExceeded(adding: pack.length) {
            return .overAllowance(limit, taken: allowance.used, isEssential: isEssential)
        }
        if isMetered, let limit = meteredBytes.limitExceeded(adding: cost) {
            return .overMeteredAllowance(limit, taken: meteredBytes.used, cost: cost)
        }
        var installedSize = installedSizes[isEssential]
        installedSize.subtract(download.replacedSize)
        // A version that needs no more disk space than the old one is always allowed.
        if pack.installedSize > download.replacedSize,
            let limit = installedSize.limitExceeded(adding: pack.installedSize)
        {
            return .overInstalledSize(limit, others: installedSize.used, isEssential: isEssential)
        }
        installedSize.add(pack.installedSize)
        installedSizes[isEssential] = installedSize
        allowances[isEssential].add(pack.length)
        meteredBytes.add(cost)
        return nil
    }
}

/// Separate limits of essential packs and all others.
private struct Shares {
    private var essential: ByteCount
    private var others: ByteCount

    init(essential: UInt64?, others: UInt64?) {
        self.essential = ByteCount(limit: essential)
        self.others = ByteCount(limit: others)
    }

    subscript(isEssential: Bool) -> ByteCount {
        get { isEssential ? essential : others }
        set { if isEssential { essential = newValue } else { others = newValue } }
    }
}

/// A sum of bytes and its limit. The sum of signed sizes may overflow: then it stays at the largest number.
private struct ByteCount {
    let limit: UInt64?
    private(set) var used: UInt64 = 0

    init(limit: UInt64?) { self.limit = limit }

    mutating func add(_ bytes: UInt64) { used.saturatingAdd(bytes) }

    mutating func subtract(_ bytes: UInt64) { used -= min(bytes, used) }

    /// The limit, if this many more bytes would exceed it.
    func limitExceeded(adding bytes: UInt64) -> UInt64? {
        limit.flatMap { used.saturatingAdding(bytes) > $0 ? $0 : nil }
    }
}

extension PackManifest {
    /// The least disk space of a file or folder.
    private static let entrySize: UInt64 = 4096

    /// Disk space of the opened pack: its bytes, and one block for each file and folder. Both numbers are signed, so
    /// that millions of empty files do not evade a limit.
    var installedSize: UInt64 {
        openedSize.saturatingAdding(UInt64(entryCount) * Self.entrySize)
    }
}
