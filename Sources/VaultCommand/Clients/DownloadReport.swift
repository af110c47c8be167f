import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

/// The cost of a fetch, as text and as JSON.
struct DownloadReport {
    let costs: [DownloadCost]

    private var bytes: UInt64 { costs.reduce(0) { $0 + $1.cost.bytes } }

    func answer() {
        for pack in costs {
            let cost = pack.cost
            Console.answer(
                "\(pack.id)  version \(pack.version)  \(cost.bytes) of \(cost.length) bytes in \(cost.requests.counting("request")), "
                    + "\(cost.reusedPieces) of \(cost.pieces.counting("piece")) are here already")
        }
        Console.note(
            costs.isEmpty ? "nothing is to be downloaded" : "\(bytes) bytes in all are to be downloaded")
    }

    func answerJSON() {
        let packs = costs.map { pack -> JSONValue in
            .object([
                "id": .string(pack.id.description), "version": .integer(Int64(clamping: pack.version)),
                "length": .integer(Int64(clamping: pack.cost.length)),
                "bytes": .integer(Int64(clamping: pack.cost.bytes)),
                "requests": .integer(Int64(pack.cost.requests)),
                "pieces": .integer(Int64(pack.cost.pieces)),
                "reusedPieces": .integer(Int64(pack.cost.reusedPieces)),
            ])
        }
        let answer: JSONObject = ["packs": .array(packs), "bytes": .integer(Int64(clamping: bytes))]
        Console.answer(bytes: JSONValue.object(answer).pretty())
    }
}
