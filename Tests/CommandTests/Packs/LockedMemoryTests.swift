import Foundation
import Testing

/// Keys are kept in locked memory; a system that refuses it is reported.
struct LockedMemoryTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    /// Locks no memory, not even for root.
    private static let unlocked = Command.shell(
        """
        ulimit -l 0 || exit 125
        [ "$(id -u)" != 0 ] || exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"
        exec "$@"
        """)

    private func warnings(_ result: CommandResult) -> Int {
        result.errorText.split(separator: "\n").count { $0.contains("locks no memory") }
    }

    @Test func unlockedMemoryIsReportedOnce() async throws {
        let vault = samplePack.folder["vault"]
        for arguments in [
            ["keygen", "-o", samplePack.folder["new.jwks"]],
            ["seal", samplePack.level, "-o", samplePack.pack] + samplePack.keys,
            ["open", samplePack.pack, "-o", samplePack.folder["opened"]] + samplePack.keys, ["init", vault],
            [
                "publish", vault, "--pack", "one=\(samplePack.level)", "--keys",
                "file:\(vault)/keys/vault.jwks",
            ],
        ] {
            let result = try await Command.run(arguments, through: Self.unlocked).succeeded()
            #expect(warnings(result) == 1, "\(arguments[0]): \(result.errorText)")
        }
        // Without a key there is nothing to lock.
        let result = try await Command.run("inspect", samplePack.pack, through: Self.unlocked).succeeded()
        #expect(warnings(result) == 0)
    }

    @Test func lockedMemoryIsNotReported() async throws {
        #expect(
            warnings(try await Command.run("keygen", "-o", samplePack.folder["new.jwks"]).succeeded()) == 0)
    }
}
