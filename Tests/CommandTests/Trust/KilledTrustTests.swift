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

    /// Where the last step was done, the command says so.
    @Test func anotherKey() async throws {
        let key = try await vault.testSite.makeKey("colleague").publicKey
        try await killAtEveryStep(
            ["trust", "add-key"], with: ["targets", key], refusal: "signs for it already")
    }
}
