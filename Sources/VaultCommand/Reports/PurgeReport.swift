import AssetVault
import SealedPack
import VaultBytes
import VaultErrors

/// The packs that were removed to free disk space, or would be.
struct PurgeReport: Report {
    let packs: [PurgeablePack]
    let store: VaultStore
    let isDryRun: Bool
    /// Bytes that are free on the disk now.
    let freeSize: UInt64
    /// Bytes that are to be free; nil where all go.
    let wantedSize: UInt64?

    private var size: UInt64 { packs.saturatingSum(\.size) }

    /// Bytes that are free, or would be.
    var freeSizeAfter: UInt64 { isDryRun ? freeSize + min(size, .max - freeSize) : freeSize }

    var summary: String {
        if packs.isEmpty {
            let isEnough = wantedSize.map { freeSize >= $0 } ?? false
            return isEnough
                ? "enough is free: \(Bar.size(freeSize))" : "nothing may go; \(Bar.size(freeSize)) are free"
        }
        return
            "\(packs.count.counting("pack")), \(Bar.size(size)); \(Bar.size(freeSizeAfter)) \(isDryRun ? "would be free then" : "are free now")"
    }

    var columns: [Column<Self>] {
        [
            .table("packs", packColumns) { $0.packs },
            .flag("dryRun") { $0.isDryRun }, .number("size") { $0.size },
            .number("freeSize") { $0.freeSizeAfter },
        ]
    }

    private var packColumns: [Column<PurgeablePack>] {
        [
            .words { _ in isDryRun ? "would remove" : "removed" }, .text("id", "%") { $0.id },
            .text("listedID") { pack -> PackID? in
                let listedID = store.listedID(of: pack.id)
                return listedID == pack.id ? nil : listedID
            },
            .size("size", "%") { $0.size },
            .text("reason") { $0.reason.rawValue }, .words(", %") { $0.reason.words },
            .text("preservation", ", preservation %") { $0.preservation },
            .text("lastUse") { $0.lastUse }, .words(", %") { $0.use },
            .flag("requestedByRunning", ", a running program requested it") {
                $0.isOfRunningProcess
            },
        ]
    }
}

extension PurgeablePack {
    fileprivate var use: String { lastUse.map { "last read \($0)" } ?? "never read" }
}

extension PurgeablePack.Reason {
    var words: String {
        switch self {
        case .declared: "purgeable"
        case .replacedVariant: "another variant serves the device"
        case .onDemand: "on demand"
        }
    }
}
