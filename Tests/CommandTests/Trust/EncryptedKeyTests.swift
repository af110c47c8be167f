import Testing

/// Encrypted signing keys whose passphrase comes from a file descriptor.
struct EncryptedKeyTests {
    let world: World
    private static let secret = "correct horse battery staple"

    /// The timestamp's key is one that openssl made and encrypted.
    init() async throws {
        world = try await World(level: "version 1")
        let key = world["encrypted.pem"]
        try await Tool.run(
            "openssl", "genpkey", "-algorithm", "ed25519", "-aes-256-cbc", "-pass", "pass:\(Self.secret)",
            "-out", key)
        try await Tool.run(
            "openssl", "pkey", "-in", key, "-passin", "pass:\(Self.secret)", "-pubout", "-out",
            world["public.pem"])
        let old = try #require(try await world.roles()["timestamp"]?.keys.first)
        try await world.trust("add-key timestamp $WORK/public.pem").succeeded()
        try await Tool.run("mv", key, world["vault/keys/encrypted.pem"])
        try world.setPermissions("vault/keys/encrypted.pem", 0o600)
        try await world.trust(
            "remove-key timestamp \(String(old.prefix(12))) --passphrase env:SECRET",
            environment: ["SECRET": Self.secret]
        ).succeeded()
        try world.remove("vault/keys/timestamp.pem")
        try world.write("level/file", "version 2")
    }

    /// One passphrase for all encrypted keys; a file descriptor can be read only once.
    @Test(arguments: [("3< '", false), ("3< '", true), ("3< <(cat '", true)])
    func fromAFileDescriptor(redirection: String, areTwoEncrypted: Bool) async throws {
        let phrase = try world.write("passphrase", Self.secret, permissions: 0o600)
        if areTwoEncrypted {
            let plain = world["vault/keys/targets.pem"]
            try await Tool.run(
                "openssl", "pkey", "-in", plain, "-aes-256-cbc", "-passout", "pass:\(Self.secret)", "-out",
                world["targets.pem"])
            try await Tool.run("mv", world["targets.pem"], plain)
            try world.setPermissions("vault/keys/targets.pem", 0o600)
        }
        let script = "exec \"$@\" \(redirection)\(phrase)'" + (redirection.contains("(") ? ")" : "")
        try await world.run("publish $VAULT --passphrase fd:3", through: ["/bin/bash", "-c", script, "bash"])
            .succeeded()
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
    }
}
