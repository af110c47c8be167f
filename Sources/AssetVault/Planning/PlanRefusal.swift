import SealedPack
import VaultBase
import VaultTransport

/// A requested download that is not allowed.
struct PlanRefusal: Sendable, Equatable {
    enum Reason: Sendable, Equatable {
        /// The initial set would exceed its allowance, of which `taken` bytes are used.
        case overAllowance(UInt64, taken: UInt64, isEssential: Bool)
        /// The bytes that one call must download, `cost` for this pack, would exceed the metered allowance, of which `taken` bytes
        /// are used.
        case overMeteredAllowance(UInt64, taken: UInt64, cost: UInt64)
        /// With the opened sizes of the others it would exceed this limit.
        case overInstalledSize(UInt64, others: UInt64, isEssential: Bool)
        /// None of these sources is allowed.
        case noAllowedSource([SiteLocation])
    }

    let pack: PackManifest
    let reason: Reason
}

extension PlanRefusal {
    var error: VaultError {
        VaultError(
            category, problem, at: pack.id.description, remedy: remedy, missingBytes: missingBytes)
    }

    /// By how much a limit is too small.
    private var missingBytes: UInt64? {
        switch reason {
        case .overAllowance(let limit, let taken, _): excess(of: pack.length, beside: taken, over: limit)
        case .overMeteredAllowance(let limit, let taken, let cost):
            excess(of: cost, beside: taken, over: limit)
        case .overInstalledSize(let limit, let others, _):
            excess(of: pack.installedSize, beside: others, over: limit)
        case .noAllowedSource: nil
        }
    }

    private func excess(of bytes: UInt64, beside others: UInt64, over limit: UInt64) -> UInt64 {
        let sum = bytes.saturatingAdding(others)
        return sum - min(limit, sum)
    }

    /// Hosts that may not be asked are a mistake in the configuration.
    private var category: VaultError.Category {
        switch reason {
        case .overAllowance, .overMeteredAllowance, .overInstalledSize: .limit
        case .noAllowedSource: .usage
        }
    }

    private var problem: String {
        switch reason {
        case .overAllowance(let allowance, let taken, true):
            "its \(pack.length) bytes exceed the essential download allowance of \(allowance), "
                + "of which metadata and packs before it take \(taken)"
        case .overAllowance(let allowance, let taken, false):
            "its \(pack.length) bytes exceed the download allowance of \(allowance), "
                + "of which packs before it take \(taken)"
        case .overMeteredAllowance(let allowance, let taken, let cost):
            "the \(cost) bytes of it that must be downloaded exceed the \(allowance) that may come over a metered network, of which packs before it "
                + "take \(taken)"
        case .overInstalledSize(let limit, let others, let isEssential):
            "opened, it takes \(pack.installedSize) bytes on the disk: with the \(others) of other "
                + "\(isEssential ? "essential" : "non-essential") packs this exceeds the "
                + "\(isEssential ? "essential installed" : "installed") size of \(limit)"
        case .noAllowedSource(let sources):
            sources.isEmpty
                ? "there is no source to download it from"
                : "packs may not come from \(sources.map(\.description).listed(upTo: 3))"
        }
    }

    private var remedy: String {
        switch reason {
        case .overAllowance: "raise the allowance, or leave the pack to a later request"
        case .overMeteredAllowance: "use another network, or raise the allowance"
        case .overInstalledSize: "raise the limit, or remove packs"
        case .noAllowedSource(let sources):
            sources.isEmpty ? "name a source" : "allow one of these hosts, or give a source on an allowed one"
        }
    }
}
