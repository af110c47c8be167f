import ArgumentParser
import VaultAuthoring
import VaultBase

/// A number of bytes, as options take it: `500`, `10MB`, `1.5GiB`.
struct ByteCount: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let bytes: UInt64

    init(bytes: UInt64) { self.bytes = bytes }

    /// In the largest unit of 1024 that gives a whole number; without a unit up to 1023.
    var description: String {
        var (count, units) = (bytes, ["", "KiB", "MiB", "GiB", "TiB"])
        while count >= 1 << 10, count.isMultiple(of: 1 << 10), units.count > 1 {
            count >>= 10
            units.removeFirst()
        }
        return "\(count)\(units[0])"
    }

    /// Nil for anything else. Parts of a byte are left out.
    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = argument.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard let factor = Self.factors[unit] else { return nil }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : "0"
        // At most six decimals, so that a part of a tebibyte can't overflow.
        guard let first = parts.first, let whole = UInt64(first), (1...6).contains(decimals.count),
            let numerator = UInt64(decimals)
        else { return nil }
        let denominator = decimals.reduce(UInt64(1)) { power, _ in power * 10 }
        let (product, isTooMuch) = whole.multipliedReportingOverflow(by: factor)
        let (sum, isTooLarge) = product.addingReportingOverflow(numerator * factor / denominator)
        guard !isTooMuch, !isTooLarge else { return nil }
        bytes = sum
    }

    private static let factors: [String: UInt64] = [
        "": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
        "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    ]
}

/// A number of days, as options take it: `30d` or `30`, from 0 to 36,500.
struct DayCount: ExpressibleByArgument, CustomStringConvertible {
    let days: Int

    init(days: Int) { self.days = days }

    var description: String { "\(days)d" }

    init?(argument: String) {
        let digits = argument.hasSuffix("d") ? argument.dropLast() : argument[...]
        guard let days = Int(digits), (0...36_500).contains(days) else { return nil }
        self.days = days
    }
}

/// The limits that sizes are compared with.
struct SizeLimitOption: ParsableArguments {
    @Option(
        name: .customLong("limits"),
        help: ArgumentHelp(
            "Compare the sizes with \(SizeLimits.presets.keys.sorted().joined(separator: ", ")).",
            valueName: "name"))
    private var name: String?

    /// Nil without the option.
    func limits() throws(VaultError) -> SizeLimits? {
        try name.map { name throws(VaultError) in try SizeLimits(named: name) }
    }
}

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
    static func size(_ bytes: UInt64) -> String { bytes.sizeInUnits }

    private static func share(_ size: UInt64, of whole: UInt64) -> Double {
        whole == 0 ? 0 : min(1, Double(size) / Double(whole))
    }
}
