/// Numbers as people read them.
extension Double {
    /// Two digits after the point, three where there is little before it, none where there is much.
    var short: String {
        if abs(self) >= 10_000 { return Int(rounded()).grouped }
        let digits = abs(self) < 0.1 ? 3 : 2
        let scale = digits == 3 ? 1000 : 100
        let scaled = Int((abs(self) * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let sign = self < 0 && scaled > 0 ? "-" : ""
        return "\(sign)\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}

extension Int {
    var mebibytes: Int { (self + (1 << 19)) >> 20 }
    var megabytes: String { (Double(self) / 1e6).short }
    /// In thousands.
    var kilobytes: String { ((self + 500) / 1000).grouped }

    /// With commas between thousands.
    var grouped: String {
        self < 1000
            ? String(self) : "\((self / 1000).grouped),\(String(String(1000 + abs(self % 1000)).dropFirst()))"
    }
}

extension Spread {
    var markdown: String { "\(median.short) (\(least.short) to \(most.short))" }
}
