import VaultBase

/// Sizes as columns beside each other, with a scale. A table of the page has the same numbers.
struct ColumnChart {
    struct Entry {
        /// Below the column.
        let label: String
        let size: UInt64
        /// Drawn as a frame behind the column.
        var whole: UInt64?
        /// A pointer that rests on the column shows it.
        let explanation: String
    }

    /// Of its title.
    let id: String
    /// What a screen reader says in its place.
    let title: String
    let entries: [Entry]

    private static let (width, height) = (860.0, 232.0)
    private static let (left, right, top, base) = (70.0, 820.0, 26.0, 204.0)
    private static let widestPitch = 112.0
    /// Between labels that don't touch.
    private static let labelDistance = 110.0

    private var pitch: Double {
        min(Self.widestPitch, (Self.right - Self.left) / Double(max(1, entries.count)))
    }

    var markup: Markup {
        let steps = scale
        let limit = steps.last ?? 1
        return Markup(scrolling: "\(id)-chart") {
            Markup(
                "svg",
                [
                    "class": "chart", "role": "img", "aria-labelledby": "\(id)-chart",
                    "viewBox": "0 0 \(Self.width.tenths) \(Self.height.tenths)",
                ]
            ) {
                Markup("title", ["id": "\(id)-chart"]) { title }
                for step in steps { Self.line(at: step, of: limit) }
                for (number, entry) in entries.enumerated() { column(entry, number, of: limit) }
            }
        }
    }

    /// From 0 to the largest size or above it, in at most five steps of 1, 2 or 5 of a power of ten.
    private var scale: [Double] {
        let largest = Double(entries.map { max($0.size, $0.whole ?? 0) }.max() ?? 0)
        guard largest > 0 else { return [0, 1] }
        var (power, step) = (1.0, 1.0)
        while step * 5 < largest {
            if step < power * 2 {
                step = power * 2
            } else if step < power * 5 {
                step = power * 5
            } else {
                power *= 10
                step = power
            }
        }
        return stride(from: 0, to: largest + step, by: step).map(\.self)
    }

    private static func y(_ size: Double, of limit: Double) -> Double {
        base - size / limit * (base - top)
    }

    private static func line(at size: Double, of limit: Double) -> Markup {
        let y = y(size, of: limit)
        return Markup(joining: [
            Markup(
                "line", ["x1": left.tenths, "x2": width.tenths, "y1": y.tenths, "y2": y.tenths]),
            Markup(
                "text", ["class": "scale", "x": (left - 8).tenths, "y": (y + 4).tenths, "text-anchor": "end"]
            ) { UInt64(clamping: size).sizeInUnits },
        ])
    }

    private func column(_ entry: Entry, _ number: Int, of limit: Double) -> Markup {
        let center = Self.left + (Double(number) + 0.5) * pitch
        let width = min(48, pitch * 0.72)
        func rectangle(_ size: UInt64, _ style: StaticString) -> Markup {
            let y = Self.y(Double(size), of: limit)
            return Markup(
                "rect",
                [
                    "class": "\(style)", "x": (center - width / 2).tenths, "y": y.tenths,
                    "width": width.tenths, "height": (Self.base - y).tenths,
                ])
        }
        let every = Int((Self.labelDistance / pitch).rounded(.up))
        // The last one always has its label.
        let isLabelled = (entries.count - 1 - number).isMultiple(of: every)
        return Markup("g") {
            Markup("title") { entry.explanation }
            if let whole = entry.whole { rectangle(whole, "whole") }
            rectangle(entry.size, "column")
            if isLabelled {
                Self.text(entry.label, "scale", x: center, y: Self.base + 20)
                if entry.whole == nil {
                    Self.text(
                        entry.size.sizeInUnits, "value", x: center,
                        y: Self.y(Double(entry.size), of: limit) - 7)
                }
            }
        }
    }

    private static func text(_ text: String, _ style: StaticString, x: Double, y: Double) -> Markup {
        Markup("text", ["class": "\(style)", "x": x.tenths, "y": y.tenths, "text-anchor": "middle"]) { text }
    }
}
