import ArgumentParser

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
