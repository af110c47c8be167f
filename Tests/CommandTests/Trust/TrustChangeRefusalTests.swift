import Foundation
import Testing

/// Changes of trust beside a publication, which leave the vault unchanged.
@Suite(.timeLimit(.minutes(5))) struct TrustChangeRefusalTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func refuses(
        _ code: Int32, naming part: String, _ words: [String], at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree(testSite.vault)
        try await Command.run(["trust", words[0], testSite.vault] + words.dropFirst()).failed(
            code, naming: part, at: location)
        #expect(try Tree(testSite.vault) == before, sourceLocation: location)
    }

    /// While somebody publishes, nobody else changes the vault.
    @Test func aConcurrentPublication() async throws {
        try folder.write(
            "key.sh",
            """
            #!/bin/sh
            : > '\(folder["started"])'
            until [ -e '\(folder["go"])' ]; do sleep 0.02; done
            cat '\(folder["vault/keys/vault.jwks"])'

            """, permissions: 0o755)
        let key = try await testSite.makeKey("colleague").publicKey
        async let winner = Command.run(
            "publish", testSite.vault, "--keys", "exec:\(folder["key.sh"])")
        do {
            defer { _ = try? folder.write("go", "") }
            while try !folder.exists("started") { try await Task.sleep(for: .milliseconds(5)) }
            for words in [
                ["refresh"], ["rotate", "root"], ["add-key", "targets", key], ["threshold", "root", "2"],
                ["remove-key", "root", "01234567"],
            ] { try await refuses(75, naming: testSite.vault, words) }
            try await Command.run("restore", testSite.vault, "level", "--latest").failed(75)
            try await Command.run("prune", testSite.vault).failed(75)
        }
        try await winner.succeeded()
        try await testSite.trust("refresh").succeeded()
    }
}
