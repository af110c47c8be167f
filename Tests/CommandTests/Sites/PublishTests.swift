import Foundation
import StrictJSON
import SystemPackage
import Testing

struct PublishTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/maps/start.json", #"{"name": "start"}"#)
        try folder.write("level/tiles.bin", Bytes.random(300_000, seed: 1))
        try folder.write("level/run.sh", "#!/bin/sh\n", permissions: 0o755)
        try folder.makeFolder("level/empty")
    }

    @Test(arguments: [0o000, 0o077] as [UInt16])
    func theSiteIsReadableByAllWhateverTheUmask(umask: UInt16) async throws {
        try await Command.run(
            "publish", testSite.vault, "--pack", "worlds/level-1=\(folder["level"])", umask: umask
        ).succeeded()
        let site = try Tree(testSite.site)
        for (path, entry) in site.entries {
            #expect(site.permissions[path] == (entry == .folder ? 0o755 : 0o644), "\(path)")
        }
        let pack = try testSite.publishedPack("worlds/level-1")
        #expect(
            site.files.sorted() == [
                "metadata/1.root.json", "metadata/1.snapshot.json", "metadata/1.targets.json",
                "metadata/timestamp.json", pack,
            ])
        // Named by its hash.
        let hash = try await Tool.run("sha256sum", "\(testSite.site)/\(pack)").text.prefix(64)
        #expect(pack == "targets/packs/worlds/\(hash).level-1.avpack")
        #expect(try folder.permissions("vault/vault.json") == 0o644)
    }

    @Test func publishingAgainChangesNothing() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let before = try Tree(testSite.site)
        let settings = try folder.bytes("vault/vault.json")
        let again = try await testSite.publish()
        #expect(again.text == "unchanged  1 pack\n", "\(again.text)")
        #expect(again.errorText.contains("nothing changed"))
        #expect(try Tree(testSite.site) == before)
        // As does declaring the same pack again.
        try await testSite.publish("--pack", "level=\(folder["level"])")
        #expect(try Tree(testSite.site) == before)
        #expect(try folder.bytes("vault/vault.json") == settings)
    }

    @Test func aChangedSourceIsTheNextVersionAndReusesPieces() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let before = try Tree(testSite.site)
        try folder.write("level/maps/start.json", #"{"name": "changed"}"#)
        let report = try await testSite.publish("--json").json()
        let pack = try #require(report["packs"]?.elements?.first)
        #expect(pack["change"] == "updated")
        #expect(pack["version"] == 2)
        let (pieces, reused) = (
            try #require(pack["pieces"]?.number), try #require(pack["reusedPieces"]?.number)
        )
        #expect(pieces > 1)
        #expect(reused == pieces - 1)
        // Only the old timestamp's content is removed: clients may be reading the rest.
        let after = try Tree(testSite.site)
        for (path, entry) in before.entries where path != "metadata/timestamp.json" {
            #expect(after.entries[path] == entry, "\(path)")
        }
        #expect(after.files.filter { $0.hasSuffix(".avpack") }.count == 2)
        #expect(after.files.contains("metadata/2.snapshot.json"))
        #expect(after.files.contains("metadata/2.targets.json"))
    }

    @Test func aDeclaredPackIsSavedRelativeToTheVault() async throws {
        try await Command.run(
            "publish", "vault", "--pack", "level=level", workingDirectory: folder.path
        ).succeeded()
        #expect(try folder.json("vault/vault.json")["packs", "level", "source"] == "../level")
        // From anywhere else the vault still finds it.
        let again = try await Command.run(
            "publish", folder["vault"], workingDirectory: FilePath("/")
        ).succeeded()
        #expect(again.text.hasPrefix("unchanged"))
    }

    @Test func settingsSelectTheFiles() async throws {
        try folder.write("level/drafts/secret.txt", "draft")
        try folder.write("level/maps/old.psd", "layers")
        try folder.write(
            "vault/vault.json",
            """
            {"format": 1, "mine": ["kept"], "packs": {"level": {
              "source": "../level", "include": ["maps/**", "drafts"], "exclude": ["*.psd", "drafts/secret.*"],
              "policy": "onDemand", "tags": ["L1"], "traits": {"language": "de"}}}}
            """)
        try folder.write("other/file", "other")
        try await testSite.publish("--pack", "other=\(folder["other"])")
        // Unknown members are kept.
        #expect(try folder.json("vault/vault.json")["mine"] == ["kept"])

        try await testSite.fetch(nil, "level").succeeded()
        #expect(try await testSite.tree(of: "level").files == ["maps/start.json"])
        let target = try folder.json("vault/site/metadata/1.targets.json")[
            "signed", "targets", "packs/level.avpack", "custom", "assetvault"]
        #expect(target?["policy"] == "onDemand")
        #expect(target?["tags"] == ["L1"])
        #expect(target?["traits"] == ["language": "de"])
    }

    @Test func metadataChangesNeedNoSealing() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let pack = try testSite.publishedPack("level")
        try folder.write(
            "vault/vault.json",
            #"{"format": 1, "packs": {"level": {"source": "../level", "policy": "essential"}}}"#)
        #expect(try await testSite.publish().text.hasPrefix("updated  level  version 1"))
        #expect(try testSite.publishedPack("level") == pack)
    }

    /// Among many packs that stay the report names those that change; for programs it lists all.
    @Test func theReportNamesWhatChanges() async throws {
        for name in ["one", "two", "three"] { try folder.write("\(name)/file", name) }
        let packs = ["one", "two", "three"].flatMap { ["--pack", "\($0)=\(folder[$0])"] }
        try await Command.run(["publish", testSite.vault] + packs).succeeded()
        try folder.write("two/file", "changed")
        let json = try await Command.run("publish", testSite.vault, "--dry-run", "--json").succeeded().json()
        #expect(json["packs"]?.elements?.count == 3)
        let lines = try await testSite.publish().text.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("updated  two  version 2") == true, "\(lines)")
        #expect(lines.last == "unchanged  2 packs")
    }

    @Test func anArchiveIsASourceLikeItsFolder() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let pack = try testSite.publishedPack("level")
        try await Tool.run(
            "tar", "--zstd", "-C", folder["level"], "-cf", folder["level.tar.zst"], ".")
        let report = try await testSite.publish("--pack", "level=\(folder["level.tar.zst"])")
        #expect(report.text.hasPrefix("unchanged"), "\(report.text)")
        #expect(try testSite.publishedPack("level") == pack)
        #expect(try Tree(folder["vault"]).entries.keys.filter { $0.contains(".assetvault-") } == [])
    }

    @Test func anUndeclaredPackIsNotListed() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("vault/vault.json", #"{"format": 1, "packs": {}}"#)
        #expect(try await testSite.publish().text.hasPrefix("removed  level"))
        try await testSite.fetch(nil, "level").failed(66, naming: "'level'")
    }

    /// Clients may still have the former version: its number is not reused.
    @Test func aPackDeclaredAgainHasAHigherVersion() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        let settings = try folder.bytes("vault/vault.json")
        try folder.write("vault/vault.json", #"{"format": 1, "packs": {}}"#)
        try await testSite.publish()
        try folder.write("vault/vault.json", settings)
        #expect(try await testSite.publish().text.contains("level  version 2"))
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// Other vault keys change no pack, and are reported.
    @Test func otherVaultKeysAreReported() async throws {
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Command.run("keygen", "-o", folder["second.jwks"]).succeeded()
        let keys = ["vault/keys/vault.jwks", "second.jwks"].flatMap { ["--keys", "file:\(folder[$0])"] }
        let result = try await Command.run(["publish", testSite.vault] + keys).succeeded()
        #expect(
            result.text.hasPrefix("resealed  level  version 1") && result.text.contains(", for other keys"),
            "\(result.text)")
    }

    @Test func anEmptySourceIsAWarning() async throws {
        try folder.makeFolder("nothing")
        let result = try await testSite.publish("--pack", "level=\(folder["nothing"])")
        #expect(result.errorText.contains("warning: the source of 'level' is empty"), "\(result.errorText)")
    }

    @Test func linksAreFollowedWhereTheSettingsSaySo() async throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder["level/link"], withDestinationPath: "run.sh")
        try folder.write("vault/vault.json", #"{"format": 1, "packs": {"level": {"source": "../level"}}}"#)
        try await Command.run("publish", testSite.vault).failed(65, naming: #""followLinks": true"#)
        try folder.write(
            "vault/vault.json",
            #"{"format": 1, "packs": {"level": {"source": "../level", "followLinks": true}}}"#)
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level").files.contains("link"))
    }
}
