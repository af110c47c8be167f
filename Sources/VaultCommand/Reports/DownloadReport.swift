import AssetVault
import SealedPack
import VaultBytes

/// The cost of a fetch.
struct DownloadReport: Report {
    let costs: [DownloadCost]

    var bytes: UInt64 { costs.saturatingSum(\.cost.bytes) }

    var columns: [Column<Self>] {
        [
            .table("packs", DownloadCost.columns) { $0.costs }, .number("bytes") { $0.bytes },
        ]
    }
}

extension DownloadCost {
    fileprivate static var columns: [Column<DownloadCost>] {
        [
            .text("id", "%") { $0.id }, .number("version", "version %") { $0.version },
            .number("bytes", "%") { $0.cost.bytes },
            .number("length", " of % bytes") { $0.cost.length },
            .count("requests", " in %", of: "request") { $0.cost.requests },
            .number("reusedPieces", ", %") { $0.cost.reusedPieces },
            .count("pieces", " of % are here already", of: "piece") { $0.cost.pieces },
        ]
    }
}
