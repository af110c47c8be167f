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
        try await folder.run("publish \(vault) --pack level=$WORK/level").succeeded()
        let client: Words = "--trust \(vault)/trusted-root.json --keys file:\(vault)/keys/vault.jwks"
        try await folder.run("fetch \(vault)/site --store \(vault)-store \(client)").succeeded()
        #expect(try Tree("\(vault)-store/permanent/level/current") == Tree(folder["level"]), "\(hint)")
        #expect(try Tree(vault).scratch == [], "\(hint)")
    }

    @Test(arguments: ["pwrite64", "renameat2", "fsync", "mkdirat"]) func atEveryStep(call: String)
        async throws
    {
        let numbers = [1, 2] + Sampling.numbers(3...60, each: 3, for: "KilledInitTests.atEveryStep \(call)")
        let killed = try await Killing.atEach(call, numbers) { number, wrapper in
            let vault = folder["vault-\(number)"]
            let hint = "\(call) \(number)"
            let result = try await folder.run("init \(vault)", through: wrapper)
            guard result.exitCode == 137 else { return result }
            // A key that was made before the kill may have been backed up: it stays.
            let before = try FileManager.default.fileExists(atPath: vault) ? Tree(vault).entries : [:]
            let again = try await folder.run("init \(vault)")
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
            return result
        }
        #expect(killed > 1, "\(call): \(killed)")
    }
}
