import Glibc
import SealedPack

/// A bar on standard error for work of more than a second; none where that is not a terminal.
final class ProgressBar {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private var next: ContinuousClock.Instant
    private var hasDrawn = false
    private let label: String
    private var measure: ByteProgress

    /// - Parameter total: bytes in all; 0 when it is not known.
    init(_ label: String, total: UInt64 = 0) {
        self.label = label
        measure = ByteProgress(total: total)
        next = start + .seconds(1)
    }

    /// Draws at most ten times a second.
    func show(_ done: UInt64) {
        measure.done = done
        show(measure, as: label)
    }

    /// The same for work whose name and size change.
    func show(_ measure: ByteProgress, as label: String) {
        guard isShown, ContinuousClock.now >= next else { return }
        next = ContinuousClock.now + .milliseconds(100)
        hasDrawn = true
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        Console.redraw("\(label) \(measure.shown(after: seconds))")
    }

    /// Clears the line.
    func finish() {
        if hasDrawn { Console.redraw("") }
        hasDrawn = false
    }
}

/// A bar for each step of work, one after the other.
final class StepBars {
    private var step: (label: String, bar: ProgressBar)?

    /// - Parameter total: bytes in all; 0 when it is not known.
    func show(_ label: String, _ done: UInt64, of total: UInt64 = 0) {
        if step?.label != label {
            finish()
            step = (label, ProgressBar(label, total: total))
        }
        step?.bar.show(done)
    }

    /// Clears the line.
    func finish() { step?.bar.finish() }
}

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

/// The progress of all packs in one kind of step, as one bar.
struct CombinedProgress {
    private let label: String
    private var progress: [PackID: ByteProgress] = [:]
    private var ended: Set<PackID> = []
    private var bar: ProgressBar?

    /// - Parameter label: the kind of step, such as `fetching`.
    init(_ label: String) { self.label = label }

    /// - Parameter done: bytes; those of a pack's first call are from an earlier run.
    mutating func show(_ id: PackID, _ done: UInt64, of total: UInt64) {
        ended.remove(id)
        progress[id, default: ByteProgress(total: total, present: done)].done = done
        let bar = self.bar ?? ProgressBar(label)
        self.bar = bar
        bar.show(sum, as: "\(label) \(progress.count == 1 ? "\(id)" : "\(progress.count) packs")")
    }

    /// A finished pack counts as long as others continue; when all have ended, the next one begins a new bar.
    mutating func end(_ id: PackID) {
        guard progress[id] != nil else { return }
        ended.insert(id)
        if ended.count == progress.count { self = CombinedProgress(label) }
    }

    /// Clears the line.
    func clear() { bar?.finish() }

    private var sum: ByteProgress {
        progress.values.reduce(into: ByteProgress(total: 0)) { sum, pack in
            sum.total += pack.total
            sum.present += pack.present
            sum.done += pack.done
        }
    }
}
