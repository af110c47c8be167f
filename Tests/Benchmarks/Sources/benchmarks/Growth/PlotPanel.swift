import Glibc

/// One pair of logarithmic scales with a few lines.
struct PlotPanel {
    struct Line {
        let name: String
        let points: [(x: Double, y: Double)]
    }

    let title: String
    let axis: String
    let lines: [Line]

    static let (width, height) = (420, 300)
    private static let colours = ["#1b6ca8", "#c8553d", "#3a7d44", "#8e5aa8"]
    private static let (left, right, top, bottom) = (52.0, 404.0, 52.0, 256.0)

    func svg(left: Int, top: Int) -> String {
        let points = lines.flatMap(\.points)
        guard !points.isEmpty else { return "" }
        let x = LogScale(points.map(\.x), from: Self.left, to: Self.right)
        let y = LogScale(points.map(\.y), from: Self.bottom, to: Self.top)
        var parts = ["<g transform=\"translate(\(left) \(top))\">"]
        parts.append(text(title, x: Self.left, y: 18, "font-weight=\"bold\""))
        for mark in x.marks {
            let place = x[mark].brief
            parts.append(
                "<path d=\"M\(place) \(Self.top.brief)V\(Self.bottom.brief)\" stroke=\"#e4e4e4\"/>"
                    + text(mark.label, x: x[mark], y: Self.bottom + 15, "text-anchor=\"middle\""))
        }
        for mark in y.marks {
            let place = y[mark].brief
            parts.append(
                "<path d=\"M\(Self.left.brief) \(place)H\(Self.right.brief)\" stroke=\"#e4e4e4\"/>"
                    + text(mark.label, x: Self.left - 6, y: y[mark] + 4, "text-anchor=\"end\""))
        }
        parts.append(
            text(axis, x: (Self.left + Self.right) / 2, y: Self.bottom + 32, "text-anchor=\"middle\""))
        for (index, line) in lines.enumerated() {
            let colour = Self.colours[index % Self.colours.count]
            let places = line.points.map { (x[$0.x].brief, y[$0.y].brief) }
            let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
            parts.append(
                "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>"
                    + places.map { "<circle cx=\"\($0.0)\" cy=\"\($0.1)\" r=\"3\" fill=\"\(colour)\"/>" }
                    .joined())
            let label = Self.left + Double(index) * 86
            parts.append(
                "<circle cx=\"\((label + 4).brief)\" cy=\"34\" r=\"4\" fill=\"\(colour)\"/>"
                    + text(line.name, x: label + 12, y: 38, "fill=\"\(colour)\""))
        }
        return parts.joined(separator: "\n") + "\n</g>"
    }

    private func text(_ text: String, x: Double, y: Double, _ attributes: String) -> String {
        "<text x=\"\(x.brief)\" y=\"\(y.brief)\" \(attributes)>\(text)</text>"
    }
}

/// Whole decades around some values.
private struct LogScale {
    private let first: Int
    private let last: Int
    private let from: Double
    private let to: Double

    init(_ values: [Double], from: Double, to: Double) {
        let exponents = values.filter { $0 > 0 }.map { log10($0) }
        first = Int((exponents.min() ?? 0).rounded(.down))
        last = max(first + 1, Int((exponents.max() ?? 1).rounded(.up)))
        self.from = from
        self.to = to
    }

    /// The powers of ten.
    var marks: [Double] { (first...last).map { pow(10, Double($0)) } }

    subscript(value: Double) -> Double {
        let share = (log10(max(value, 1e-9)) - Double(first)) / Double(last - first)
        return from + share * (to - from)
    }
}

extension Double {
    /// 1,000,000 as 1 M, 1,000 as 1 k.
    fileprivate var label: String {
        if self >= 999_999 { return "\((self / 1e6).brief) M" }
        return self >= 999 ? "\((self / 1e3).brief) k" : brief
    }

    /// At most two digits after the point.
    fileprivate var brief: String {
        let hundredths = Int((self * 100).rounded())
        let (whole, rest) = (hundredths / 100, abs(hundredths % 100))
        if rest == 0 { return "\(whole)" }
        return "\(whole)." + (rest < 10 ? "0\(rest)" : rest % 10 == 0 ? "\(rest / 10)" : "\(rest)")
    }
}
