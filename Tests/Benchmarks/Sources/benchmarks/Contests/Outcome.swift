/// What the contenders of one contest took, round by round.
struct Outcome: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let name: String
        let script: String
        /// The counted runs, in the order of the rounds.
        let runs: [Cost]

        /// At its worst run.
        var peakMemory: Int { runs.map(\.peakMemory).max() ?? 0 }

        func median(_ figure: (Cost) -> Double) -> Double { Spread(runs.map(figure)).median }
    }

    let work: String
    let corpus: String
    /// The first one is this project's.
    let entries: [Entry]
    let verdicts: [Verdict]
}

/// This project's command against one other contender.
struct Comparison: Codable, Sendable {
    let work: String
    let corpus: String
    let against: String
    let wall: Spread
    let cpu: Spread
}

extension Outcome {
    var comparisons: [Comparison] {
        entries.dropFirst().map { other in
            Comparison(
                work: work, corpus: corpus, against: other.name,
                wall: .ratio(entries[0].runs.map(\.wall), to: other.runs.map(\.wall)),
                cpu: .ratio(entries[0].runs.map(\.cpu), to: other.runs.map(\.cpu)))
        }
    }
}
