/// The progress of work in bytes: in all, left by an earlier run, and done now.
struct ByteProgress: Equatable {
    /// 0 when it is not known.
    var total: UInt64
    /// Done before this run: not counted for its rate.
    var present: UInt64 = 0
    var done: UInt64 = 0

    /// Bytes a second of this run.
    func rate(after seconds: Double) -> Double {
        guard done > present, seconds > 0 else { return 0 }
        return Double(done - present) / seconds
    }

    /// Estimated seconds until the end, at the rate of this run so far; nil without an estimate.
    func remaining(after seconds: Double) -> Double? {
        let rate = rate(after: seconds)
        guard total > done, rate > 0 else { return nil }
        let remaining = Double(total - done) / rate
        return remaining < 100 * 3600 ? remaining : nil
    }
}

extension ByteProgress {
    private static let width = 30

    /// As text: a bar, or the bytes where the total is not known; the rate, and the remaining time.
    func shown(after seconds: Double) -> String {
        let rate = rate(after: seconds) / 1000
        let speed = rate < 10_000 ? "\(Int(rate)) kB/s" : "\(Int(rate / 1000)) MB/s"
        let time = remaining(after: seconds).map { "  \(Self.clock(Int($0.rounded(.up)))) left" } ?? ""
        return "\(amount)  \(speed)\(time)"
    }

    private var amount: String {
        guard total > 0 else { return "\(done / 1_000_000) MB" }
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        return "[\(bar)] \(Int(share * 100)) %"
    }

    /// `1:05`, or `2:03:10`.
    private static func clock(_ seconds: Int) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60
        guard minutes >= 60 else { return "\(minutes):\(padded(seconds % 60))" }
        return "\(minutes / 60):\(padded(minutes % 60)):\(padded(seconds % 60))"
    }
}
