import Foundation
import Sampling
import Testing

/// A change of trust may be killed at any step: every reader trusts the site, and repeating the command finishes it.
struct KilledTrustTests {
    let vault: KilledVault

    init() async throws { vault = try await KilledVault() }

    /// The calls that change a folder, or make a change durable. Between two of the latter lies at most one of the
    /// former, so that `fsync` alone stops at every state.
    private static let calls = Sampling.isWhole ? ["fsync", "renameat", "renameat2", "unlinkat"] : ["fsync"]

    /// Kills a command at each of its steps.
    private func killAtEveryStep(
        _ command: [String], with arguments: [String] = [], refusal: String? = nil
    ) async throws {
        for call in Self.calls {
            var killed = 0
            let test = "\(call) of \(command) \(arguments)"
            // One of the first, which every command has.
            let first = Sampling.numbers(1...4, each: 4, for: test)
            for number in first + Sampling.numbers(5...80, each: 8, for: test) {
                let result = try await vault.tryOut(
                    command, with: arguments, through: Killing.at(call, number: number), refusal: refusal,
                    withPython: number.isMultiple(of: 3))
                if result.exitCode == 0 { break }
                killed += 1
            }
            #expect(killed > 0 || call != "fsync", "\(call) of \(command)")
            print("killed \(killed) times at \(call): \(command) \(arguments)")
        }
    }

    @Test func publish() async throws { try await killAtEveryStep(["publish"]) }

    @Test(arguments: ["root", "timestamp", "snapshot", "targets"]) func rotation(role: String) async throws {
        try await killAtEveryStep(["trust", "rotate"], with: [role])
    }

    @Test func refresh() async throws { try await killAtEveryStep(["trust", "refresh"]) }

    /// A file that waits for the root's key is replaced: the old one or the new one waits then, and either can be signed.
    @Test func aFileThatWaits() async throws {
        let testSite = vault.testSite
        let key = try testSite.takeAway("root.pem")
        try await testSite.trust("rotate", "timestamp").succeeded()
        #expect(try testSite.pending() == ["2.root.json"])
        for number in 1...60 {
            let round = try TemporaryFolder()
            try await Tool.run("cp", "-a", testSite.vault, round["vault"])
            try await Tool.run("ln", "-s", testSite.folder["level"], round["level"])
            let result = try await Command.run(
                "trust", "rotate", round["vault"], "snapshot",
                through: Killing.at("fsync", number: number))
            try await Command.run("publish", round["vault"]).succeeded()
            try await Command.run("trust", "sign", round["vault/pending/2.root.json"], "--key", key)
                .succeeded()
            try await Command.run("publish", round["vault"]).succeeded()
            #expect(try round.names(in: "vault/pending") == [], "\(number)")
            try await Command.run("audit", round["vault/site"]).succeeded()
            if result.exitCode == 0 { return #expect(number > 4) }
            try #require(result.exitCode == 137, "\(result.errorText)")
        }
    }

    /// Where the last step was done, the command says so.
    @Test func anotherKey() async throws {
        let key = try await vault.testSite.makeKey("colleague").publicKey
        try await killAtEveryStep(
            ["trust", "add-key"], with: ["targets", key], refusal: "signs for it already")
    }
}
