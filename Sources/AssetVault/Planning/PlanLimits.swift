import SealedPack
import VaultTransport

/// What the packs of a plan take up, of what a policy gives them.
struct PlanLimits {
    private var allowances: Shares
    private var installedSizes: Shares
    private let isInitial: Bool
    private let sources: [SiteLocation]
    private let hasAllowedSource: Bool

    /// - Parameter metadataBytes: what the metadata took already.
    init(
        _ policy: PlanningPolicy, on occasion: PlanningOccasion, sources: [SiteLocation],
        metadataBytes: UInt64
    ) {
        isInitial = occasion.isInitial
        self.sources = sources
        hasAllowedSource = sources.contains(where: policy.allows)
        allowances = Shares(essential: policy.essentialDownloadAllowance, others: policy.downloadAllowance)
        allowances[true].add(metadataBytes)
        installedSizes = Shares(essential: policy.essentialInstalledSize, others: policy.installedSize)
    }

    /// Counts a pack that is in use, or will be, whatever else is planned.
    /// - Parameter bytes: its size once opened, or that of the version that stays until then.
    mutating func countInstalled(_ bytes: UInt64, of pack: PackManifest) {
        installedSizes[pack.offer.policy == .essential].add(bytes)
    }

    /// Counts a pack that has come with the initial set: a downloader that was killed goes on with the same set.
    mutating func countTransferred(_ transfer: PlannedTransfer) {
        allowances[transfer.pack.offer.policy == .essential].add(transfer.pack.length)
    }

    /// Counts a download, unless something forbids it. All its bytes count, also those that are there already. An essential
    /// pack that failed comes as any other, and stays in the initial set in which it was: it takes nothing from the others.
    mutating func admit(_ download: PlannedDownload) -> PlanRefusal.Reason? {
        guard hasAllowedSource else { return .noAllowedSource(sources) }
        let pack = download.pack
        let isEssential = pack.offer.policy == .essential
        let allowance = allowances[isEssential]
        if isInitial, let limit = allowance.passed(by: pack.length) {
            return .overAllowance(limit, taken: allowance.used, isEssential: isEssential)
        }
        var installedSize = installedSizes[isEssential]
        installedSize.subtract(download.replacedSize)
        // What takes no more room than before is no reason to stay with an old version.
        if pack.installedSize > download.replacedSize,
            let limit = installedSize.passed(by: pack.installedSize)
        {
            return .overInstalledSize(limit, others: installedSize.used, isEssential: isEssential)
        }
        installedSize.add(pack.installedSize)
        installedSizes[isEssential] = installedSize
        allowances[isEssential].add(pack.length)
        return nil
    }
}

/// Essential packs and all others never share a limit.
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

/// Bytes beside their limit. Signed sizes may add up to more than a number holds: the sum then stays at the largest.
private struct ByteCount {
    let limit: UInt64?
    private(set) var used: UInt64 = 0

    init(limit: UInt64?) { self.limit = limit }

    mutating func add(_ bytes: UInt64) { used = sum(with: bytes) }

    mutating func subtract(_ bytes: UInt64) { used -= min(bytes, used) }

    /// The limit, if so many more bytes would pass it.
    func passed(by bytes: UInt64) -> UInt64? {
        limit.flatMap { sum(with: bytes) > $0 ? $0 : nil }
    }

    private func sum(with bytes: UInt64) -> UInt64 {
        let (sum, overflows) = used.addingReportingOverflow(bytes)
        return overflows ? .max : sum
    }
}
