import Foundation
import Testing

/// A change of trust may be killed at any step: every reader believes the site, and the same command ends it.
struct KilledTrustTests {
    let vault: KilledVault

    init() async throws { vault = try await KilledVault() }

    /// The calls that change a folder, or make a change durable. Between two of the latter lies at most one of the
    /// former, so `fsync` alone stops at every state; the others are tried where `ASSETVAULT_KILLS` is set.
    private static let calls =
        ProcessInfo.processInfo.environment["ASSETVAULT_KILLS"] == nil
        ? ["fsync"] : ["fsync", "renameat", "renameat2", "unlinkat"]

    /// Kills a command at every one of its steps in turn.
    private func killAtEveryStep(
        _ command: [String], with arguments: [String] = [], refusal: String? = nil
    ) async throws {
        for call in Self.calls {
            var killed = 0
            for number in 1...80 {
                let result = try await vault.tryOut(
                    command, with: arguments, through: Killing.at(call, number: number), refusal: refusal,
                    withPython: call == "fsync" && number.isMultiple(of: 3))
                if result.exitCode == 0 { break }
                killed += 1
            }
            #expect(killed > 0 && killed < 80 || call == "unlinkat", "\(call) of \(command): \(killed)")
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
        let key = try await vault.workshop.makeKey("colleague").publicKey
        try await killAtEveryStep(
            ["trust", "add-key"], with: ["targets", key], refusal: "signs for it already")
    }
}
