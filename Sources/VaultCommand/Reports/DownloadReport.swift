import AssetVault
import SealedPack
import StrictJSON
import VaultBytes
import VaultErrors

/// The cost of a fetch.
struct DownloadReport: Report {
    let costs: [DownloadCost]

    var bytes: UInt64 { costs.saturatingSum(\.cost.bytes) }

    var lines: [String] {
        costs.map { pack in
            let cost = pack.cost
            return
                "\(pack.id)  version \(pack.version)  \(cost.bytes) of \(cost.length) bytes in \(cost.requests.counting("request")), "
                + "\(cost.reusedPieces) of \(cost.pieces.counting("piece")) are here already"
        }
    }

    var json: JSONObject {
        [
            "packs": .objects(costs) { pack in
                [
                    "id": "\(pack.id)", "version": .number(pack.version), "length": .number(pack.cost.length),
                    "bytes": .number(pack.cost.bytes), "requests": .number(pack.cost.requests),
                    "pieces": .number(pack.cost.pieces), "reusedPieces": .number(pack.cost.reusedPieces),
                ]
            }, "bytes": .number(bytes),
        ]
    }
}
