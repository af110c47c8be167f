import Glibc

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
