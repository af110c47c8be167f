/// What the contenders of one contest took, round by round.
struct Outcome: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let name: String
        let script: String
        let goal: Double?
        /// The counted runs, in the order of the rounds.
        let runs: [Cost]
    }

    let name: String
    /// The first one is this project's.
    let entries: [Entry]
}

extension Contest {
    /// Runs A B C A B C …, so that whatever else the machine does falls on all of them alike. The first round only
    /// warms up.
    func measured(rounds: Int, in workshop: Workshop) throws -> Outcome {
        var runs = Array(repeating: [Cost](), count: contenders.count)
        for round in 0...rounds {
            Progress.note("\(name): \(round == 0 ? "warming up" : "round \(round) of \(rounds)")")
            for (index, contender) in contenders.enumerated() {
                let cost = try workshop.run(contender)
                if round > 0 { runs[index].append(cost) }
            }
        }
        return Outcome(
            name: name,
            entries: zip(contenders, runs).map { contender, runs in
                Outcome.Entry(
                    name: contender.name, script: contender.script, goal: contender.goal, runs: runs)
            })
    }
}
