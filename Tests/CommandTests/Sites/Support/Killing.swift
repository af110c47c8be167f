import Sampling

/// Wrappers that end a command before its time.
enum Killing {
    /// SIGKILL after so many seconds; in the foreground, so that the end of the killed command is waited for.
    static func after(_ seconds: Double) -> [String] {
        ["timeout", "--foreground", "--preserve-status", "--signal=KILL", "\(seconds)"]
    }

    /// SIGKILL instead of the `number`th call of one system call in a thread.
    static func at(_ call: String, number: Int) -> [String] {
        Sandbox.injecting("signal=KILL", into: call, number: number)
    }
}

/// Random moments at which commands are killed. How long a command takes was measured once, and a machine that does other things is
/// faster or slower later: where one ends before its moment, the next moments come earlier, so that some are killed on any machine.
struct RandomMoments {
    private let whole: Double
    private var pace = 1.0
    private var random: SeededGenerator

    init(within whole: Duration, for name: String) {
        self.whole = whole / .seconds(1)
        random = SeededGenerator(for: name)
    }

    /// In seconds.
    ///
    /// - Parameter parts: of the time that was measured.
    mutating func next(_ parts: ClosedRange<Double>) -> Double {
        Double.random(in: parts, using: &random) * whole * pace
    }

    mutating func note(wasKilled: Bool) { pace = wasKilled ? min(1, pace * 2) : pace / 2 }
}
