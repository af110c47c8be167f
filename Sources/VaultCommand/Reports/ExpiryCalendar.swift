/// When metadata expires: a bar for each role, on a scale on which days and a year can be read.
struct ExpiryCalendar {
    struct Entry {
        let name: String
        let daysLeft: Double
        /// The same for people.
        let timeLeft: String
        let level: Page.Level
    }

    let entries: [Entry]

    private static let limit = 24
    private static let (left, column, rowHeight) = (170.0, 105.0, 26.0)
    /// Each stop is one column behind the one before.
    private static let stops: [(name: String, days: Double)] = [
        ("now", 0), ("1 day", 1), ("1 week", 7), ("1 month", 30), ("3 months", 91), ("1 year", 365),
        ("10 years", 3652),
    ]

    var markup: Markup {
        let shown = entries.sorted { $0.daysLeft < $1.daysLeft }.prefix(Self.limit)
        let (width, height) = (Self.left + Self.column * 6 + 40, Double(shown.count) * Self.rowHeight + 30)
        return Markup(
            "svg",
            [
                "class": "chart", "role": "img", "viewBox": "0 0 \(width.tenths) \(height.tenths)",
            ]
        ) {
            Markup("title", ["id": "calendar-title"]) {
                "When the roles expire: "
                    + shown.map { "\($0.name): \($0.timeLeft)" }.joined(separator: ", ")
            }
            for (number, stop) in Self.stops.enumerated() {
                Self.mark(stop.name, x: Self.left + Double(number) * Self.column, height: height)
            }
            for (number, entry) in shown.enumerated() {
                Self.row(entry, y: 24 + Double(number) * Self.rowHeight)
            }
        }
    }

    private static func mark(_ name: String, x: Double, height: Double) -> Markup {
        Markup(joining: [
            Markup("text", ["class": "scale", "x": x.tenths, "y": "12", "text-anchor": "middle"]) { name },
            Markup("line", ["x1": x.tenths, "x2": x.tenths, "y1": "18", "y2": height.tenths]),
        ])
    }

    private static func row(_ entry: Entry, y: Double) -> Markup {
        Markup(joining: [
            Markup("text", ["x": "0", "y": (y + 15).tenths]) { entry.name.excerpt(of: 22) },
            Markup(
                "rect",
                [
                    "class": entry.level.rawValue, "x": left.tenths, "y": (y + 4).tenths,
                    "width": max(3, position(of: entry.daysLeft)).tenths, "height": "14", "rx": "3",
                ]),
        ])
    }

    /// Behind "now".
    private static func position(of days: Double) -> Double {
        for (number, (from, to)) in zip(stops, stops.dropFirst()).enumerated() where days < to.days {
            return column * (Double(number) + max(0, days - from.days) / (to.days - from.days))
        }
        return column * Double(stops.count - 1)
    }
}

extension String {
    fileprivate func excerpt(of length: Int) -> String { count > length ? prefix(length - 1) + "…" : self }
}
