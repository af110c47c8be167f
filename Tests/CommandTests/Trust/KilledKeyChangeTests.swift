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

    /// Kills a command at each of its saves.
    ///
    /// - Parameter test: Runs it in a copy of the vault, which has the key that it began with, and looks at what is left.
    private func killAtEachSave(
        of command: String,
        _ test: (_ round: TemporaryFolder, _ wrapper: [String], _ hint: String) async throws -> CommandResult
    ) async throws {
        let numbers = Sampling.numbers(1...40, each: 6, for: "KilledKeyChangeTests.\(command)")
        let killed = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { number, wrapper in
            let round = try await world.copyOfVault()
            try await Tool.run("cp", "-p", world["first"], round["old"])
            return try await test(round, wrapper, "\(number)")
        }
        #expect(killed > 0)
    }

    @Test func aKeyIsReplaced() async throws {
        try await killAtEachSave(of: "begin") { round, wrapper, hint in
            let result = try await round.run("keys rekey $WORK/vault", through: wrapper)
            try await expect(round, opens: "old", hint)
            try await round.run("keys rekey $WORK/vault").succeeded()
            try await round.copy("vault/keys/vault.jwks", to: "new")
            for key in ["old", "new"] { try await expect(round, opens: key, hint) }
            // It makes no further key.
            try await round.run("keys rekey $WORK/vault").succeeded()
            #expect(try round.bytes("vault/keys/vault.jwks") == round.bytes("new"), "\(hint)")
            return result
        }
    }

    @Test func aReplacementIsFinished() async throws {
        try await world.run("keys rekey $VAULT").succeeded()
        try await killAtEachSave(of: "finish") { round, wrapper, hint in
            try await round.copy("vault/keys/vault.jwks", to: "new")
            let result = try await round.run("keys rekey $WORK/vault --finish", through: wrapper)
            try await expect(round, opens: "new", hint)
            let again = try await round.run("keys rekey $WORK/vault --finish")
            #expect(
                again.exitCode == 0 || again.exitCode == 64 && again.errorText.contains("is being replaced"),
                "\(again.errorText) \(hint)")
            try await expect(round, opens: "new", hint)
            let old = try await check(round, with: "old")
            #expect(old.exitCode == 77, "\(hint)")
            try await round.run("publish $WORK/vault").succeeded()
            return result
        }
    }

    @Test func packsAreSealedAgain() async throws {
        try await world.run("keys export $VAULT --pack level -o $WORK/content").succeeded()
        try await killAtEachSave(of: "reseal") { round, wrapper, hint in
            try await Tool.run("cp", "-p", world["content"], round["content"])
            let result = try await round.run("keys reseal $WORK/vault --all", through: wrapper)
            try await expect(round, opens: "old", hint)
            try await round.run("keys reseal $WORK/vault --all").succeeded()
            try await expect(round, opens: "old", hint)
            let content = try await check(round, with: "content")
            #expect(content.exitCode == 77, "\(hint)")
            try await expectDistinctNumbers(in: round, hint)
            try await round.run("publish $WORK/vault").succeeded()
            return result
        }
    }

    @Test func aPackIsReleased() async throws {
        try await world.run("keys add $VAULT --audience held").succeeded()
        try world.declare(["level": ["held": true]])
        try await world.publish()
        try await killAtEachSave(of: "release") { round, wrapper, hint in
            let before = try await check(round, with: "old")
            #expect(before.exitCode == 77, "\(hint)")
            let result = try await round.run("release $WORK/vault level", through: wrapper)
            let again = try await round.run("release $WORK/vault level")
            #expect(again.exitCode == 0, "\(again.errorText) \(hint)")
            try await expect(round, opens: "old", hint)
            let published = try await round.run("publish $WORK/vault").succeeded()
            #expect(published.errorText.contains("nothing changed"), "\(hint)")
            return result
        }
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

    private func check(_ round: TemporaryFolder, with key: String) async throws -> CommandResult {
        try await round.run(
            "keys check file:$WORK/\(key) --site $WORK/vault/site --trust $WORK/vault/trusted-root.json")
    }

    private func expect(_ round: TemporaryFolder, opens key: String, _ hint: String) async throws {
        let result = try await check(round, with: key)
        #expect(result.exitCode == 0, "\(key): \(result.errorText) \(hint)")
    }
}
