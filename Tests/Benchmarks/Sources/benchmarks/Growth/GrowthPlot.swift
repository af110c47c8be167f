/// Draws how cost grows: a panel for each axis, and one for memory. Both scales of a panel are logarithmic, so that flat
/// means that each one costs the same however many there are.
struct GrowthPlot {
    private let panels: [PlotPanel]

    init(_ growths: [Growth]) {
        panels =
            growths.map { growth in
                PlotPanel(
                    title: "\(growth.unit) per \(growth.one)", axis: growth.axis,
                    lines: growth.series.map { series in
                        PlotPanel.Line(
                            name: series.operation,
                            points: series.points.map { (Double($0.size), growth.each($0)) })
                    })
            }
            + growths.filter { $0.axis == "files" }.map { growth in
                PlotPanel(
                    title: "peak memory, MiB", axis: growth.axis,
                    lines: growth.series.map { series in
                        PlotPanel.Line(
                            name: series.operation,
                            points: series.points.map {
                                (Double($0.size), Double($0.peakMemory) / Double(1 << 20))
                            })
                    })
            }
    }

    var svg: String {
        let rows = (panels.count + 1) / 2
        let (width, height) = (PlotPanel.width * min(2, panels.count), PlotPanel.height * rows)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
            height="\(height)" font-family="sans-serif" font-size="11" fill="#333">
            <rect width="\(width)" height="\(height)" fill="#fff"/>
            \(panels.enumerated().map { index, panel in
                panel.svg(left: index % 2 * PlotPanel.width, top: index / 2 * PlotPanel.height)
            }.joined(separator: "\n"))
            </svg>

            """
    }
}
