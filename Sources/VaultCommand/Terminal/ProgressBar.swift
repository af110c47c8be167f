import Glibc
import SystemPackage

/// A bar on standard error for work that lasts longer than a second; nothing where that is no terminal.
final class ProgressBar {
    private static let width = 30

    private let label: String
    private let total: UInt64
    private let isShown = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private var next: ContinuousClock.Instant
    private var hasDrawn = false

    /// - Parameter total: bytes in all; 0 when it is not known.
    init(_ label: String, total: UInt64) {
        self.label = label
        self.total = total
        next = start + .seconds(1)
    }

    /// Draws at most ten times a second.
    func show(_ done: UInt64) {
        guard isShown, ContinuousClock.now >= next else { return }
        next = ContinuousClock.now + .milliseconds(100)
        hasDrawn = true
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = Double(done) / max(seconds, 0.001) / 1000
        let speed = rate < 10_000 ? "\(Int(rate)) kB/s" : "\(Int(rate / 1000)) MB/s"
        Talk.write("\r\u{1B}[K\(label) \(amount(done))  \(speed)", to: .standardError)
    }

    /// A bar, or the bytes where it is not known how many there will be.
    private func amount(_ done: UInt64) -> String {
        guard total > 0 else { return "\(done / 1_000_000) MB" }
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        return "[\(bar)] \(Int(share * 100)) %"
    }

    /// Clears the line.
    func finish() {
        if hasDrawn { Talk.write("\r\u{1B}[K", to: .standardError) }
    }
}
