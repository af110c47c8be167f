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

    /// Projects with manifests of Apple's packaging tool try it without writing settings.
    @Test(arguments: [true, false]) func fromAppleManifests(isBelow: Bool) async throws {
        for name in ["Textures/sky", "Textures/deep/sea", "intro.mov", "deep/intro.mov", "Levels/1"] {
            try folder.write("project/\(name)", name)
        }
        try folder.write(
            "project/Tutorial.json",
            """
            {
              "assetPackID": "Tutorial",
              "downloadPolicy": {"essential": {"installationEventTypes": ["firstInstallation"]}},
              "fileSelectors": [{"directory": "Textures"}, {"file": "intro.mov"}],
              "platforms": ["iOS"]
            }
            """)
        try folder.write(
            "project/Levels.json",
            """
            {
              "assetPackID": "levels", "downloadPolicy": {"onDemand": {}},
              "fileSelectors": [{"directory": "Levels/"}], "language": "de"
            }
            """)
        try folder.write("project/song.ogg", "a song")
        try folder.write(
            "project/Music.json",
            #"{"assetPackID": "music", "downloadPolicy": {"prefetch": {}}, "fileSelectors": [{"file": "song.ogg"}]}"#
        )
        let vault = isBelow ? "out/vault" : folder["elsewhere"]
        let made = try await Command.run(
            "init", vault, "--from", "Tutorial.json", "--from", "Levels.json", "--from", "Music.json",
            through: ["env", "-C", folder["project"]]
        ).succeeded()
        #expect(made.errorText.contains("'Tutorial' is 'tutorial'"), "\(made.errorText)")
        #expect(
            made.errorText.contains(
                "'tutorial': without a meaning here: platforms, downloadPolicy.essential.installationEventTypes"
            ),
            "\(made.errorText)")
        #expect(made.errorText.contains("'levels': \"language\" is a trait, which the app chooses"))
        #expect(!made.errorText.contains("'music': without a meaning"), "\(made.errorText)")
        let path = isBelow ? folder["project/out/vault"] : vault
        try await Command.run("publish", path).succeeded()
        let listed = try await Command.run("list", "\(path)/site", "--json").succeeded().json()
        let packs = try #require(listed["packs"]?.elements)
        #expect(packs.map { $0["id"]?.text } == ["levels", "music", "tutorial"])
        #expect(packs.map { $0["policy"]?.text } == ["onDemand", "prefetch", "essential"])
        #expect(packs.first?["traits"] == ["language": "de"])
        try await Command.run(
            "fetch", "\(path)/site", "--all", "--store", folder["store"], "--trust",
            "\(path)/trusted-root.json",
            "--keys", "file:\(path)/keys/vault.jwks"
        ).succeeded()
        #expect(
            try Tree(folder["store/permanent/tutorial/current"]).files == [
                "Textures/deep/sea", "Textures/sky", "intro.mov",
            ])
        // A vault with settings of its own keeps them.
        try folder.write("other/vault.json", #"{"format": 1, "packs": {}}"#)
        let refused = try await Command.run(
            "init", folder["other"], "--from", folder["project/Levels.json"])
        #expect(refused.exitCode == 73)
    }

    @Test(arguments: [
        #""downloadPolicy": {"always": {}}, "fileSelectors": [{"file": "a"}]"#,
        #""downloadPolicy": {"essential": {}, "onDemand": {}}, "fileSelectors": [{"file": "a"}]"#,
        #""downloadPolicy": {"onDemand": {}}, "fileSelectors": []"#,
        #""downloadPolicy": {"onDemand": {}}, "fileSelectors": [{"file": "../a"}]"#,
        #""downloadPolicy": {"onDemand": {}}, "fileSelectors": [{"file": "a*"}]"#,
        #""downloadPolicy": {"onDemand": {}}, "fileSelectors": [{"path": "a"}]"#,
    ])
    func otherManifestsAreRefused(members: String) async throws {
        try folder.write("manifest.json", #"{"assetPackID": "a", \#(members)}"#)
        let result = try await Command.run("init", folder["vault"], "--from", folder["manifest.json"])
        #expect([64, 65].contains(result.exitCode), "\(result.errorText)")
        #expect(result.errorText.contains("manifest.json:1:"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: folder["vault"]))
    }
}
