import Foundation
import Sampling
import Testing

/// An `init` that was killed can be run again on the same folder.
@Suite(.timeLimit(.minutes(10))) struct KilledInitTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// A vault is complete if a client with its root can fetch what it publishes.
    private func expectItWorks(_ vault: String, _ hint: String) async throws {
        try folder.write("level/file", "version 1")
        try await Command.run("publish", vault, "--pack", "level=\(folder["level"])").succeeded()
        try await Command.run(
            "fetch", "\(vault)/site", "--store", "\(vault)-store", "--trust", "\(vault)/trusted-root.json",
            "--keys", "file:\(vault)/keys/vault.jwks"
        ).succeeded()
        #expect(try Tree("\(vault)-store/permanent/level/current") == Tree(folder["level"]), "\(hint)")
        let left = try Tree(vault).entries.keys.filter { $0.contains(".assetvault-") }
        #expect(left == [], "\(hint)")
    }

    @Test(arguments: ["pwrite64", "renameat2", "fsync", "mkdirat"]) func atEveryStep(call: String)
        async throws
    {
        var killed = 0
        for number in [1, 2] + Sampling.numbers(3...60, each: 3, for: "KilledInitTests.atEveryStep \(call)") {
            let vault = folder["vault-\(number)"]
            let hint = "\(call) \(number)"
            let result = try await Command.run("init", vault, through: Killing.at(call, number: number))
            try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")
            guard result.exitCode == 137 else { break }
            killed += 1
            // A key that was made before the kill may have been backed up: it stays.
            let before = try FileManager.default.fileExists(atPath: vault) ? Tree(vault).entries : [:]
            let again = try await Command.run("init", vault)
            if again.exitCode == 0 {
                let after = try Tree(vault).entries
                for (path, entry) in before where !path.contains(".assetvault-") {
                    #expect(after[path] == entry, "\(path) \(hint)")
                }
            } else {
                // All was done but the last `fsync`.
                again.failed(73, naming: vault, "a vault already", "assetvault publish")
            }
            try await expectItWorks(vault, hint)
        }
        #expect(killed > 1, "\(call): \(killed)")
    }
}
