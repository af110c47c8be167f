/// A median with its range.
struct Spread: Codable, Sendable {
    let median: Double
    let least: Double
    let most: Double

    /// `values` must not be empty.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = sorted[0]
        most = sorted[sorted.count - 1]
    }

    private init(median: Double, range: Spread) {
        self.median = median
        least = range.least
        most = range.most
    }

    /// The ratio of the medians; its range is that of the ratios within each round.
    static func ratio(_ ours: [Double], to others: [Double]) -> Spread {
        Spread(
            median: Spread(ours).median / Spread(others).median,
            range: Spread(zip(ours, others).map { $0 / $1 }))
    }
}
