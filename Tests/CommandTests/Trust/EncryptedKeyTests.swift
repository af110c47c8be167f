import Foundation
import Testing

/// Encrypted signing keys whose passphrase comes from a file descriptor.
struct EncryptedKeyTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private static let secret = "correct horse battery staple"

    /// The timestamp's key is one that openssl made and encrypted.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let key = folder["encrypted.pem"]
        try await Tool.run(
            "openssl", "genpkey", "-algorithm", "ed25519", "-aes-256-cbc", "-pass", "pass:\(Self.secret)",
            "-out", key)
        try await Tool.run(
            "openssl", "pkey", "-in", key, "-passin", "pass:\(Self.secret)", "-pubout", "-out",
            folder["public.pem"])
        let old = try #require(try await testSite.roles()["timestamp"]?.keys.first)
        try await testSite.trust("add-key", "timestamp", folder["public.pem"]).succeeded()
        try await Tool.run("mv", key, folder["vault/keys/encrypted.pem"])
        try folder.setPermissions("vault/keys/encrypted.pem", 0o600)
        try await testSite.trust(
            "remove-key", "timestamp", String(old.prefix(12)), "--passphrase", "env:SECRET",
            environment: ["SECRET": Self.secret]
        ).succeeded()
        try FileManager.default.removeItem(atPath: folder["vault/keys/timestamp.pem"])
        try folder.write("level/file", "version 2")
    }

    @Test func fromAFileDescriptor() async throws {
        let phrase = try folder.write("passphrase", Self.secret, permissions: 0o600)
        try await Command.run(
            ["publish", testSite.vault, "--passphrase", "fd:3"],
            through: Command.shell("exec \"$@\" 3< '\(phrase)'")
        ).succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// One passphrase for all encrypted keys; a file descriptor can be read only once.
    @Test(arguments: ["3< '", "3< <(cat '"]) func twoKeysFromADescriptor(redirection: String) async throws {
        let phrase = try folder.write("passphrase", Self.secret, permissions: 0o600)
        let plain = folder["vault/keys/targets.pem"]
        try await Tool.run(
            "openssl", "pkey", "-in", plain, "-aes-256-cbc", "-passout", "pass:\(Self.secret)", "-out",
            folder["targets.pem"])
        try await Tool.run("mv", folder["targets.pem"], plain)
        try folder.setPermissions("vault/keys/targets.pem", 0o600)
        let script = "exec \"$@\" \(redirection)\(phrase)'" + (redirection.contains("(") ? ")" : "")
        try await Command.run(
            ["publish", testSite.vault, "--passphrase", "fd:3"], through: ["/bin/bash", "-c", script, "bash"]
        ).succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
