/// The results of one growth run.
struct GrowthReport: Codable, Sendable {
    let setting: Setting
    /// The least peak memory that can be measured, in bytes.
    let memoryFloor: Int
    let growths: [Growth]
    let verdicts: [Verdict]
}

extension Growth {
    /// What one of the axis costs at a point, in the unit.
    func each(_ point: Point) -> Double { point.wall / Double(point.size) / secondsAUnit }

    var verdicts: [Verdict] { series.flatMap { flatness($0) + memory($0) } }

    /// The worst growth from any size to any larger one.
    private func flatness(_ series: Series) -> [Verdict] {
        guard let flatFrom else { return [] }
        let costs = series.points.filter { $0.size >= flatFrom }.map(each)
        guard costs.count > 1 else { return [] }
        var (least, worst) = (costs[0], 0.0)
        for cost in costs.dropFirst() {
            worst = max(worst, cost / least)
            least = min(least, cost)
        }
        return [
            Verdict(
                work: "\(series.operation), \(axis)",
                figure: "time per \(one) from \(flatFrom.grouped) up, largest growth", measured: worst,
                most: 1.2)
        ]
    }

    /// At any size, but with more than 100,000 files.
    private func memory(_ series: Series) -> [Verdict] {
        guard flatFrom != nil, let most = Self.memoryGoals[series.operation] else { return [] }
        let points = series.points.filter { axis != "files" || $0.size <= 100_000 }
        guard let peak = points.map(\.peakMemory).max(), let size = points.map(\.size).max() else {
            return []
        }
        return [
            Verdict(
                work: "\(series.operation), \(axis)", figure: "peak memory up to \(size.grouped), MiB",
                measured: Double(peak) / Double(1 << 20), most: most)
        ]
    }

    private static let memoryGoals = ["seal": 64.0, "open": 64.0, "downloader": 32.0]
}
