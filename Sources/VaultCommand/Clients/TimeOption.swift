import ArgumentParser

/// How long a client may run.
struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("time"),
        help: ArgumentHelp(
            "Stop after this time; what was begun goes on the next time.", valueName: "seconds"))
    private var seconds: Double?

    /// Nil for as long as it takes.
    var duration: Duration? { seconds.map { .seconds($0) } }

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("--time takes seconds, more than 0")
        }
    }
}
