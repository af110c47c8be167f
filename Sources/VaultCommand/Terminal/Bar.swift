/// Draws sizes beside each other.
enum Bar {
    private static let wholeWidth = 60

    /// A size beside a larger one, ten characters wide.
    static func text(_ size: UInt64, of whole: UInt64) -> String {
        let filled = min(10, Int((share(size, of: whole) * 10).rounded(.up)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: 10 - filled)
    }

    /// A whole by its parts, each with a mark of its own. The smallest part that is not empty still shows.
    static func parts(_ parts: [(size: UInt64, mark: Character)], of whole: UInt64) -> String {
        var text = ""
        for (size, mark) in parts {
            let width = (share(size, of: whole) * Double(wholeWidth)).rounded(.up)
            text += String(repeating: mark, count: min(Int(width), wholeWidth))
        }
        return String(text.prefix(wholeWidth + parts.count))
    }

    /// For people, in units of 1000: `512 B`, `1.5 MB`.
    static func size(_ bytes: UInt64) -> String {
        var (number, units) = (Double(bytes), ["B", "KB", "MB", "GB", "TB", "PB", "EB"])
        while number >= 999.5, units.count > 1 {
            number /= 1000
            units.removeFirst()
        }
        let tenths = (number * 10).rounded() / 10
        let isWhole = units[0] == "B" || tenths >= 100 || tenths == tenths.rounded()
        return "\(isWhole ? "\(Int(number.rounded()))" : "\(tenths)") \(units[0])"
    }

    private static func share(_ size: UInt64, of whole: UInt64) -> Double {
        whole == 0 ? 0 : min(1, Double(size) / Double(whole))
    }
}
