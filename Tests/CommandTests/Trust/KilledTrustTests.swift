import Foundation
import Testing

/// A change of trust may be killed at any step: every reader believes the site, and the same command ends it.
struct KilledTrustTests {
    let vault: KilledVault

    init() async throws { vault = try await KilledVault() }

    /// Everything is tried where `ASSETVAULT_KILLS` is set, else every fourth step from a random one on.
    private static let isThorough = ProcessInfo.processInfo.environment["ASSETVAULT_KILLS"] != nil

    /// The calls that change a folder, or make a change durable. Between two of the latter lies at most one of the
    /// former, so that `fsync` alone stops at every state.
    private static let calls = isThorough ? ["fsync", "renameat", "renameat2", "unlinkat"] : ["fsync"]

    /// Kills a command at one of its steps after the other.
    private func killAtEveryStep(
        _ command: [String], with arguments: [String] = [], refusal: String? = nil
    ) async throws {
        for call in Self.calls {
            var killed = 0
            let numbers =
                Self.isThorough
                ? stride(from: 1, to: 80, by: 1) : stride(from: .random(in: 1...4), to: 80, by: 4)
            for number in numbers {
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
        let key = try await vault.workshop.makeKey("colleague").publicKey
        try await killAtEveryStep(
            ["trust", "add-key"], with: ["targets", key], refusal: "signs for it already")
    }
}
