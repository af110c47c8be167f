/// What an update took that a client without a key downloaded.
struct UpdateOutcome: Codable, Sendable {
    struct Other: Codable, Sendable {
        let name: String
        let script: String
        let bytes: Int
    }

    let update: String
    /// Bytes of the new pack.
    let packLength: Int
    /// Bytes of its index and catalog, as its signed metadata gives them.
    let listing: Int
    let traffic: Traffic
    let cost: Cost
    let others: [Other]

    /// Bytes of the pack beside its index and catalog.
    var pieces: Int { max(0, traffic.packs - listing) }
    /// Bytes of signed metadata, and all heads of answers.
    var metadata: Int { traffic.total - traffic.packs }

    /// Against the best of the others; where there are none, against the whole pack.
    var verdict: Verdict {
        if let best = others.min(by: { $0.bytes < $1.bytes }) {
            Verdict(
                work: "update of \(update)", figure: "bytes in total, ratio to \(best.name)",
                measured: Double(traffic.total) / Double(best.bytes), most: 1.2)
        } else {
            Verdict(
                work: "update of \(update)", figure: "bytes in total, % of the pack",
                measured: Double(traffic.total) / Double(packLength) * 100, most: 2)
        }
    }
}
