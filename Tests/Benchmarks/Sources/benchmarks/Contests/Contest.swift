/// One kind of work, and the contenders that do it in turns: this project's command first.
struct Contest: Sendable {
    let name: String
    /// For bash, once, not measured: makes the scripts' input. Input of earlier contests is kept.
    let preparation: String
    /// How many runs each contender has in a round, in turns: short work needs more.
    let turns: Int
    let contenders: [Contender]

    init(_ name: String, preparation: String, turns: Int = 1, _ contenders: Contender...) {
        self.name = name
        self.preparation = preparation
        self.turns = turns
        self.contenders = contenders
    }

    /// The measurements on a folder of assets.
    static let all = [
        seal, open, fetch, update, openedUpdate, auditWithoutKey, auditWithKey, cat, catBeyondStart,
    ]
}

/// One way to do a piece of work.
struct Contender: Sendable {
    let name: String
    /// For bash. Beside the variables of `Workshop.environment` it knows nothing. It writes below `$out`, a new folder
    /// for each run.
    let script: String
    /// For bash, before each run, not measured: fills `$out`.
    let setup: String
    /// Slow ones have none: cold caches don't matter in their long rounds.
    let warmsUp: Bool
    let goals: [Goal]

    init(_ name: String, _ script: String, setup: String = "", warmsUp: Bool = true, goals: Goal...) {
        self.name = name
        self.script = script
        self.setup = setup
        self.warmsUp = warmsUp
        self.goals = goals
    }
}
