import Foundation
import StrictJSON
import Testing

/// Invalid changes of trust, which leave the vault unchanged.
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

    @Test(arguments: [
        (["threshold", "targets", "2"], "threshold of 2"), (["threshold", "root", "0"], "threshold of 0"),
        (["threshold", "root", "1"], "already"), (["threshold", "snapshot", "--", "-1"], "threshold of -1"),
        (["threshold", "timestamp", "9223372036854775807"], "threshold"),
        (["remove-key", "root", "0123456789abcdef"], "names 0"), (["remove-key", "root", ""], "names 1"),
        (["rotate", "packs"], "packs"), (["threshold", "targets", "many"], "many"),
    ]) func invalidChanges(words: [String], part: String) async throws {
        let before = try Tree(testSite.vault)
        let result = try await Command.run(["trust", words[0], testSite.vault] + words.dropFirst())
        #expect(result.exitCode == 64 && result.output.isEmpty, "\(result.errorText)")
        #expect(result.errorText.contains(part), "\(result.errorText)")
        #expect(try Tree(testSite.vault) == before)
    }

    @Test(arguments: ["root", "timestamp", "snapshot", "targets"]) func theLastKey(role: String) async throws
    {
        let id = try #require(try await testSite.roles()[role]?.keys.first)
        try await refuses(64, naming: "threshold", ["remove-key", role, id])
        try await refuses(64, naming: id, ["remove-key", role, String(id.prefix(7))])
    }

    @Test func aKeyThatIsAlreadyListed() async throws {
        let key = try await testSite.makeKey("colleague").publicKey
        try await testSite.trust("add-key", "targets", key).succeeded()
        try await refuses(64, naming: "already", ["add-key", "targets", key])
        #expect(try await testSite.roles()["targets"]?.keys.count == 2)
        // For another role it is new.
        try await testSite.trust("add-key", "root", key).succeeded()
    }

    @Test func aFileThatIsNotAPublicKey() async throws {
        try await refuses(66, naming: "nowhere", ["add-key", "targets", folder["nowhere"]])
        try await refuses(77, naming: "level/file", ["add-key", "targets", folder["level/file"]])
        // A private key must not be passed around.
        let key = try await testSite.makeKey("colleague").key
        try await refuses(77, naming: "colleague.pem", ["add-key", "targets", key])
    }

    /// No key is made for one that the root does not name.
    @Test func aForeignKey() async throws {
        let key = try await testSite.makeKey("foreign").key
        try await Tool.run("cp", key, folder["vault/keys/timestamp.pem"])
        try await refuses(64, naming: "does not name the key", ["rotate", "timestamp"])
    }

    @Test func noVault() async throws {
        for words in [["refresh"], ["rotate", "root"], ["threshold", "root", "2"]] {
            try await Command.run(["trust", words[0], folder["level"]] + words.dropFirst()).failed(
                66, naming: folder["level"])
        }
        let empty = try await TestSite()
        try await empty.trust("refresh").failed(66, naming: "publish")
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

    /// Clients would refuse metadata that follow on an older timestamp than they saw.
    @Test func anOlderTimestampInTheSite() async throws {
        try await Tool.run("cp", "-a", testSite.site, folder["old-site"])
        for version in 2...4 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish()
        }
        try await testSite.fetch().succeeded()
        try await Tool.run(
            "cp", folder["old-site/metadata/timestamp.json"], "\(testSite.site)/metadata/timestamp.json")
        let before = try Tree(testSite.site)
        try await Command.run("publish", testSite.vault).failed(76, naming: "timestamp")
        try await testSite.trust("refresh").failed(76, naming: "timestamp")
        #expect(try Tree(testSite.site) == before)
    }
}
