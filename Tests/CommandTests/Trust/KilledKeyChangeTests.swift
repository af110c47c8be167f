import Sampling
import Testing
import VaultBase

/// A change of keys may be killed at any step. Whoever has the old vault key opens everything until its replacement is finished, and
/// repeating the command finishes the change.
struct KilledKeyChangeTests {
    let world: World

    init() async throws {
        world = try await World(level: "version 1")
        try await world.copy("vault/keys/vault.jwks", to: "first")
    }

    @Test func aKeyIsReplaced() async throws {
        let numbers = Sampling.numbers(1...40, each: 6, for: "KilledKeyChangeTests.begin")
        let killed = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { number, wrapper in
            let round = try await copy()
            let result = try await round.run("keys rekey $WORK/vault", through: wrapper)
            try await expect(round, opens: "old", "\(number)")
            try await round.run("keys rekey $WORK/vault").succeeded()
            try await round.copy("vault/keys/vault.jwks", to: "new")
            for key in ["old", "new"] { try await expect(round, opens: key, "\(number)") }
            // It makes no further key.
            try await round.run("keys rekey $WORK/vault").succeeded()
            #expect(try round.bytes("vault/keys/vault.jwks") == round.bytes("new"), "\(number)")
            return result
        }
        #expect(killed > 0)
    }

    @Test func aReplacementIsFinished() async throws {
        try await world.run("keys rekey $VAULT").succeeded()
        let numbers = Sampling.numbers(1...40, each: 6, for: "KilledKeyChangeTests.finish")
        let killed = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { number, wrapper in
            let round = try await copy()
            try await round.copy("vault/keys/vault.jwks", to: "new")
            let result = try await round.run("keys rekey $WORK/vault --finish", through: wrapper)
            try await expect(round, opens: "new", "\(number)")
            let again = try await round.run("keys rekey $WORK/vault --finish")
            #expect(
                again.exitCode == 0 || again.exitCode == 64 && again.errorText.contains("is being replaced"),
                "\(again.errorText) \(number)")
            try await expect(round, opens: "new", "\(number)")
            let old = try await check(round, with: "old")
            #expect(old.exitCode == 77, "\(number)")
            try await round.run("publish $WORK/vault").succeeded()
            return result
        }
        #expect(killed > 0)
    }

    @Test func packsAreSealedAgain() async throws {
        try await world.run("keys export $VAULT --pack level -o $WORK/content").succeeded()
        let numbers = Sampling.numbers(1...40, each: 6, for: "KilledKeyChangeTests.reseal")
        let killed = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { number, wrapper in
            let round = try await copy()
            try await Tool.run("cp", "-p", world["content"], round["content"])
            let result = try await round.run("keys reseal $WORK/vault --all", through: wrapper)
            try await expect(round, opens: "old", "\(number)")
            try await round.run("keys reseal $WORK/vault --all").succeeded()
            try await expect(round, opens: "old", "\(number)")
            let content = try await check(round, with: "content")
            #expect(content.exitCode == 77, "\(number)")
            try await expectDistinctNumbers(in: round, "\(number)")
            try await round.run("publish $WORK/vault").succeeded()
            return result
        }
        #expect(killed > 0)
    }

    @Test func aPackIsReleased() async throws {
        try await world.run("keys add $VAULT --audience held").succeeded()
        try world.declare(["level": ["held": true]])
        try await world.publish()
        let numbers = Sampling.numbers(1...40, each: 6, for: "KilledKeyChangeTests.release")
        let killed = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { number, wrapper in
            let round = try await copy()
            let before = try await check(round, with: "old")
            #expect(before.exitCode == 77, "\(number)")
            let result = try await round.run("release $WORK/vault level", through: wrapper)
            let again = try await round.run("release $WORK/vault level")
            #expect(again.exitCode == 0, "\(again.errorText) \(number)")
            try await expect(round, opens: "old", "\(number)")
            let published = try await round.run("publish $WORK/vault").succeeded()
            #expect(published.errorText.contains("nothing changed"), "\(number)")
            return result
        }
        #expect(killed > 0)
    }

    /// No number of a pack stands for two contents, in any metadata that was ever written.
    private func expectDistinctNumbers(in round: TemporaryFolder, _ hint: String) async throws {
        var digests: [Int64: Set<String>] = [:]
        for file in try round.names(in: "vault/site/metadata") where file.hasSuffix(".targets.json") {
            let value: JSONValue = try round.json("vault/site/metadata/\(file)")
            let record = value["signed", "targets", "packs/level.avpack"]
            guard case .integer(let version)? = record?["custom", "assetvault", "version"],
                let digest = record?["hashes", "sha256"]?.text
            else { continue }
            digests[version, default: []].insert(digest)
        }
        #expect(!digests.isEmpty && digests.values.allSatisfy { $0.count == 1 }, "\(digests) \(hint)")
    }

    /// A copy of the vault, its source, and the key that it began with.
    private func copy() async throws -> TemporaryFolder {
        let round = try TemporaryFolder()
        try await world.copy("vault", to: round["vault"])
        try await Tool.run("ln", "-s", world["level"], round["level"])
        try await Tool.run("cp", "-p", world["first"], round["old"])
        return round
    }

    private func check(_ round: TemporaryFolder, with key: String) async throws -> CommandResult {
        try await round.run(
            "keys check file:$WORK/\(key) --site $WORK/vault/site --trust $WORK/vault/trusted-root.json")
    }

    private func expect(_ round: TemporaryFolder, opens key: String, _ hint: String) async throws {
        let result = try await check(round, with: key)
        #expect(result.exitCode == 0, "\(key): \(result.errorText) \(hint)")
    }
}
