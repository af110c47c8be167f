import Sampling
import Testing

/// A change of trust may be killed at any step: every reader trusts the site, and repeating the command finishes it.
struct KilledTrustTests {
    let world: World
    private let readers: Readers
    private let trees: [Tree]

    /// Version 1 is published, and readers have seen it; the source is version 2.
    init() async throws {
        world = try await World(level: "version 1")
        let first = try Tree(world["level"])
        readers = try await Readers(of: world)
        try world.write("level/file", "version 2")
        trees = [first, try Tree(world["level"])]
    }

    /// Kills a command at each of its steps. All that change a folder, or make a change durable: between two of the latter lies at most
    /// one of the former, so that `fsync` alone stops at every state.
    ///
    /// - Parameter refusal: what the command may answer once its work is done.
    private func killAtEveryStep(
        _ command: String, _ arguments: Words = "", refusal: String? = nil
    ) async throws {
        let words: Words = "\(command.split(separator: " ").map(String.init)) $WORK/vault \(arguments)"
        for call in Sampling.isWhole ? ["fsync", "renameat", "renameat2", "unlinkat"] : ["fsync"] {
            let test = "\(call) of \(command) \(arguments.list())"
            // One of the first, which every command has.
            let numbers =
                Sampling.numbers(1...4, each: 4, for: test) + Sampling.numbers(5...80, each: 8, for: test)
            let killed = try await Killing.atEach(call, numbers, isAlwaysCalled: false) { number, wrapper in
                try await tryOut(
                    words, through: wrapper, refusal: refusal, withPython: number.isMultiple(of: 3),
                    "\(number) \(test)")
            }
            #expect(killed > 0 || call != "fsync", "\(call) of \(command)")
            print("killed \(killed) times at \(test)")
        }
    }

    /// Runs a command on a copy of the vault, checks what readers see, and runs it again.
    private func tryOut(
        _ words: Words, through wrapper: [String], refusal: String?, withPython: Bool, _ hint: String
    ) async throws -> CommandResult {
        let round = try await world.copyOfVault()
        let result = try await round.run(words, through: wrapper)
        try #require([0, 137].contains(result.exitCode), "\(result.errorText) \(hint)")
        let site = round["vault/site"]
        try await readers.expectBelief(in: site, seeing: trees, withPython: withPython, hint)
        if result.exitCode != 0 {
            let again = try await round.run(words)
            let isDone = refusal.map { again.exitCode == 64 && again.errorText.contains($0) } ?? false
            #expect(again.exitCode == 0 || isDone, "\(again.errorText) \(hint)")
        }
        try await round.run("publish $WORK/vault").succeeded()
        let seen = try await readers.expectBelief(in: site, seeing: trees, withPython: withPython, hint)
        #expect(seen == 1, "\(hint)")
        // No unfinished files, nothing pending, nothing damaged, and nothing left to do.
        let vault = try Tree(round["vault"])
        #expect(vault.scratch + vault.entries.keys.filter { $0.contains(".next.pem") } == [], "\(hint)")
        #expect(vault.entries.keys.filter { $0.hasPrefix("pending/") } == [], "\(hint)")
        try await round.run("audit \(site)").succeeded()
        let before = try Tree(site)
        try await round.run("publish $WORK/vault").succeeded()
        #expect(try Tree(site) == before, "\(hint)")
        return result
    }

    @Test func publish() async throws { try await killAtEveryStep("publish") }

    @Test(arguments: ["root", "timestamp", "snapshot", "targets"]) func rotation(role: String) async throws {
        try await killAtEveryStep("trust rotate", "\(role)")
    }

    @Test func refresh() async throws { try await killAtEveryStep("trust refresh") }

    /// A file that waits for the root's key is replaced: the old one or the new one waits then, and either can be signed.
    @Test func aFileThatWaits() async throws {
        let key = try world.takeAway("root.pem")
        try await world.trust("rotate timestamp").succeeded()
        #expect(try world.pending() == ["2.root.json"])
        let killed = try await Killing.atEach("fsync", 1...60) { number, wrapper in
            let round = try await world.copyOfVault()
            let result = try await round.run("trust rotate $WORK/vault snapshot", through: wrapper)
            try await round.run("publish $WORK/vault").succeeded()
            try await world.sign(round["vault/pending/2.root.json"], with: key)
            try await round.run("publish $WORK/vault").succeeded()
            #expect(try round.names(in: "vault/pending") == [], "\(number)")
            try await round.run("audit $WORK/vault/site").succeeded()
            return result
        }
        #expect(killed > 3)
    }

    /// Where the last step was done, the command says so.
    @Test func anotherKey() async throws {
        let key = try await world.makeKey("colleague").publicKey
        try await killAtEveryStep("trust add-key", "targets \(key)", refusal: "signs for it already")
    }
}
