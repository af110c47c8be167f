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

/// This project's command against one other contender.
struct Comparison: Codable, Sendable {
    let work: String
    let against: String
    let wall: Spread
    let cpu: Spread
    let goal: Double?
}

extension Outcome {
    var comparisons: [Comparison] {
        entries.dropFirst().map { other in
            Comparison(
                work: name, against: other.name,
                wall: .ratio(entries[0].runs.map(\.wall), to: other.runs.map(\.wall)),
                cpu: .ratio(entries[0].runs.map(\.cpu), to: other.runs.map(\.cpu)), goal: other.goal)
        }
    }
}
