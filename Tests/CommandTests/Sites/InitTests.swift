import Foundation
import StrictJSON
import Testing

struct InitTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private static let secrets = [
        "root.pem", "snapshot.pem", "targets.pem", "timestamp.pem", "vault.jwks",
    ]

    @Test(arguments: [0o000, 0o022, 0o077] as [UInt16])
    func makesAVaultWhateverTheUmask(umask: UInt16) async throws {
        let result = try await Command.run("init", folder["vault"], umask: umask).succeeded()
        #expect(result.output == [])
        let tree = try Tree(folder["vault"])
        #expect(
            tree.permissions == [
                "vault.json": 0o644, "trusted-root.json": 0o644,
                "keys": 0o700, "keys/.gitignore": 0o644,
                "keys/vault.jwks": 0o600, "keys/root.pem": 0o600, "keys/targets.pem": 0o600,
                "keys/snapshot.pem": 0o600, "keys/timestamp.pem": 0o600,
                "site": 0o755, "site/targets": 0o755, "site/metadata": 0o755,
                "site/metadata/1.root.json": 0o644,
            ])
        #expect(try folder.permissions("vault") == 0o755)
        #expect(tree.entries["trusted-root.json"] == tree.entries["site/metadata/1.root.json"])
    }

    @Test func keysAreIgnoredByGit() async throws {
        try await Command.run("init", folder["vault"]).succeeded()
        try await Tool.run("git", "init", "--quiet", folder["vault"])
        try await Tool.run("git", "-C", folder["vault"], "add", "--all")
        let tracked = try await Tool.run("git", "-C", folder["vault"], "ls-files").text
        #expect(tracked.contains("vault.json") && tracked.contains("trusted-root.json"))
        #expect(!tracked.contains("keys/"), "\(tracked)")
    }

    /// Other programs can read the keys, and all are different.
    @Test func keysAreStandardAndDistinct() async throws {
        try await Command.run("init", folder["vault"]).succeeded()
        var found: Set<[UInt8]> = []
        for name in Self.secrets where name.hasSuffix(".pem") {
            let text = try await Tool.run(
                "openssl", "pkey", "-in", folder["vault/keys/\(name)"], "-noout", "-text")
            #expect(text.text.hasPrefix("ED25519 Private-Key"))
            found.insert(try folder.bytes("vault/keys/\(name)"))
        }
        #expect(found.count == 4)
        let keys = try folder.json("vault/keys/vault.jwks")["keys"]?.elements
        #expect(keys?.count == 1)
    }

    @Test func acceptsAnEmptyFolder() async throws {
        try folder.makeFolder("vault")
        try await Command.run("init", folder["vault"]).succeeded()
        #expect(try folder.exists("vault/vault.json"))
    }

    /// A vault whose settings and keys were copied gets its root.
    @Test func usesExistingKeysAndSettings() async throws {
        try await Command.run("init", folder["first"]).succeeded()
        try folder.makeFolder("second")
        for name in ["keys", "vault.json"] {
            try await Tool.run("cp", "-a", folder["first/\(name)"], folder["second/\(name)"])
        }
        let before = try Tree(folder["second/keys"])
        try await Command.run("init", folder["second"]).succeeded()
        #expect(try Tree(folder["second/keys"]) == before)
        let keys = try folder.json("first/trusted-root.json")["signed", "keys"]
        #expect(try folder.json("second/trusted-root.json")["signed", "keys"] == keys)
    }

    /// A copied site, even of a hostile host, must not decide about trust.
    @Test func pinsNoRootOfOtherKeys() async throws {
        try await Command.run("init", folder["other"]).succeeded()
        try folder.makeFolder("mine")
        try await Tool.run("cp", "-a", folder["other/site"], folder["mine/site"])
        try await Command.run("init", folder["mine"]).failed(76, naming: "1.root.json")
        #expect(try !folder.exists("mine/trusted-root.json"))
    }

    @Test func overwritesNothing() async throws {
        try await Command.run("init", folder["vault"]).succeeded()
        let before = try Tree(folder["vault"])
        try await Command.run("init", folder["vault"]).failed(73, naming: folder["vault"])
        #expect(try Tree(folder["vault"]) == before)

        try folder.write("file", "mine")
        try await Command.run("init", folder["file"]).failed(73, naming: folder["file"])
        #expect(try folder.bytes("file") == Array("mine".utf8))
    }
}
