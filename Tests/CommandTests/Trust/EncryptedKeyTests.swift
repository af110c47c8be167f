import Foundation
import Testing

/// Encrypted signing keys, and that passphrases are never printed.
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

    private func publish(_ spec: String?, secret: String? = nil) async throws -> CommandResult {
        let result = try await Command.run(
            ["publish", testSite.vault] + (spec.map { ["--passphrase", $0] } ?? []),
            environment: ["SECRET": secret])
        for text in [Self.secret, secret ?? Self.secret] where !text.isEmpty {
            #expect(!result.errorText.contains(text) && !result.text.contains(text))
        }
        return result
    }

    @Test(arguments: ["env:SECRET", "file:passphrase", "file:passphrase-with-line-end"])
    func theRightPassphrase(spec: String) async throws {
        try folder.write("passphrase", Self.secret, permissions: 0o600)
        try folder.write("passphrase-with-line-end", Self.secret + "\n", permissions: 0o600)
        let place = spec.hasPrefix("file:") ? "file:\(folder[String(spec.dropFirst(5))])" : spec
        try await publish(place, secret: spec == "env:SECRET" ? Self.secret : nil).succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
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

    @Test func theWrongPassphrase() async throws {
        let before = try Tree("\(testSite.site)/metadata")
        for secret in ["wrong", "", "correct horse battery stapl", "correct horse battery staple "] {
            try await publish("env:SECRET", secret: secret).failed(77)
            #expect(try Tree("\(testSite.site)/metadata") == before, "\(secret)")
        }
    }

    @Test func noPassphrase() async throws {
        let before = try Tree("\(testSite.site)/metadata")
        try await publish(nil).failed(77)
        try await publish("env:SECRET", secret: nil).failed(77, naming: "SECRET", "not set")
        try folder.write("passphrase", Self.secret, permissions: 0o644)
        try await publish("file:\(folder["passphrase"])").failed(77, naming: "passphrase", "chmod 600")
        try await publish("file:\(folder["nowhere"])").failed(77, naming: "nowhere")
        #expect(try Tree("\(testSite.site)/metadata") == before)
    }

    /// Offline signing accepts encrypted keys, too.
    @Test func signingElsewhere() async throws {
        try FileManager.default.moveItem(
            atPath: folder["vault/keys/encrypted.pem"], toPath: folder["elsewhere.pem"])
        let file = folder["copy/timestamp.json"]
        try folder.write("copy/timestamp.json", folder.bytes("vault/site/metadata/timestamp.json"))
        try await Command.run("trust", "sign", file, "--key", folder["elsewhere.pem"]).failed(
            77, naming: "encrypted", "--passphrase")
        try await Command.run(
            "trust", "sign", file, "--key", folder["elsewhere.pem"], "--passphrase", "env:SECRET",
            environment: ["SECRET": Self.secret]
        ).succeeded()
    }

    /// Anybody can see command lines: the passphrase is refused, and not repeated.
    @Test func aLiteralPassphrase() async throws {
        for text in ["hunter2", "pass:hunter2", "hunter2:", "fd:hunter2", "env:", "fd:1"] {
            let result = try await publish(text).failed(64, naming: "--passphrase", "env:NAME")
            #expect(!result.errorText.contains("hunter2"), "\(text)")
        }
    }

    /// With a passphrase the fresh key of a rotation is encrypted.
    @Test func aFreshKeyIsEncrypted() async throws {
        try await testSite.trust(
            "rotate", "timestamp", "--passphrase", "env:SECRET", environment: ["SECRET": Self.secret]
        ).failed(77, naming: "timestamp.pem")
        try await Tool.run("mv", folder["vault/keys/encrypted.pem"], folder["vault/keys/timestamp.pem"])
        try await testSite.trust(
            "rotate", "timestamp", "--passphrase", "env:SECRET", environment: ["SECRET": Self.secret]
        ).succeeded()
        let pem = String(decoding: try folder.bytes("vault/keys/timestamp.pem"), as: UTF8.self)
        #expect(pem.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
        try await Tool.run(
            "openssl", "pkey", "-in", folder["vault/keys/timestamp.pem"], "-passin",
            "pass:\(Self.secret)", "-noout")
        try await publish("env:SECRET", secret: Self.secret).succeeded()
        try await testSite.fetch().succeeded()
    }
}
