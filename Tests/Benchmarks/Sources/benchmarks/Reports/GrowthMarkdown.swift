/// How cost grows, as people read it.
extension GrowthReport {
    var markdown: String { ([introduction, verdicts.markdown] + growths.map(\.markdown)).sections }

    private var introduction: String {
        """
        \(setting.markdown)
        Medians of up to 5 runs, as many as begin within a minute; peak memory of the worst, below \
        \(memoryFloor.mebibytes) MiB it can't be measured.
        """
    }
}

extension Growth {
    fileprivate var markdown: String {
        var table = MarkdownTable(
            axis, "operation", "wall s", "\(unit) per \(one)", "CPU s", "peak MiB", "runs")
        for index in series.first?.points.indices ?? 0..<0 {
            for series in series {
                let point = series.points[index]
                table.add([
                    point.size.grouped, series.operation, Spread(point.runs.map(\.wall)).markdown,
                    each(point).short, Spread(point.runs.map(\.cpu)).median.short,
                    String(point.peakMemory.mebibytes), String(point.runs.count),
                ])
            }
        }
        return table.markdown
    }
}
