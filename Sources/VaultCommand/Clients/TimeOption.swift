import ArgumentParser

/// The time limit of a client.
struct TimeOption: ParsableArguments {
    @Option(
        name: .customLong("time"),
        help: ArgumentHelp(
            "Stop after this time; the next run resumes.", valueName: "seconds"))
    private var seconds: Double?

    /// Nil for no limit.
    var duration: Duration? { seconds.map { .seconds($0) } }

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("--time takes seconds, more than 0")
        }
    }
}
