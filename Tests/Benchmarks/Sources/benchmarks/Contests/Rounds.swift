extension Contest {
    /// Runs A B C A B C …, so that other load on the machine affects all of them alike. The first round is not
    /// counted.
    func measured(rounds: Int, in workshop: Workshop) throws -> Outcome {
        let title = "\(name), \(workshop.corpus)"
        Progress.note("\(title): preparing")
        try workshop.prepare(preparation)
        var runs = Array(repeating: [Cost](), count: contenders.count)
        for round in 0...rounds {
            Progress.note("\(title): \(round == 0 ? "warming up" : "round \(round) of \(rounds)")")
            for _ in 0..<turns {
                for (index, contender) in contenders.enumerated() where round > 0 || contender.warmsUp {
                    let cost = try workshop.run(contender)
                    if round > 0 { runs[index].append(cost) }
                }
            }
        }
        let entries = zip(contenders, runs).map { contender, runs in
            Outcome.Entry(name: contender.name, script: contender.script, runs: runs)
        }
        let verdicts = zip(contenders, entries).flatMap { contender, entry in
            contender.goals.map { $0.verdict(of: title, entries[0], beside: entry) }
        }
        return Outcome(work: name, corpus: workshop.corpus, entries: entries, verdicts: verdicts)
    }
}
