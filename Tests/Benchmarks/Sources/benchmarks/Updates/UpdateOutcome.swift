/// The cost of an update for a client without a key.
struct UpdateOutcome: Codable, Sendable {
    struct Run: Codable, Sendable {
        /// Bytes of the new pack.
        let packLength: Int
        /// Bytes of its index and catalog, as its signed metadata gives them.
        let listing: Int
        let traffic: Traffic
        let cost: Cost

        /// Bytes of the pack beside its index and catalog.
        var pieces: Int { max(0, traffic.packs - listing) }
        /// Bytes of signed metadata, and all heads of answers.
        var metadata: Int { traffic.total - traffic.packs }
    }
    struct Other: Codable, Sendable {
        let name: String
        let script: String
        var bytes: [Int] = []

        var median: Double { Spread(bytes.map(Double.init)).median }
    }

    let update: String
    var runs: [Run] = []
    var others: [Other]

    /// The run with the median of all bytes.
    var typical: Run { runs.sorted { $0.traffic.total < $1.traffic.total }[(runs.count - 1) / 2] }

    /// Against the best of the others; where there are none, against the whole pack.
    var verdict: Verdict {
        let total = Double(typical.traffic.total)
        if let best = others.min(by: { $0.median < $1.median }) {
            return Verdict(
                work: "update of \(update)", figure: "bytes in total, ratio to \(best.name)",
                measured: total / best.median, most: 1.2)
        } else {
            return Verdict(
                work: "update of \(update)", figure: "bytes in total, % of the pack",
                measured: total / Double(typical.packLength) * 100, most: 2)
        }
    }
}
