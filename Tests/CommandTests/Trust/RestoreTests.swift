import Foundation
import StrictJSON
import Testing

/// An earlier version of a pack becomes live again, unchanged.
struct RestoreTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let packs: [String]

    /// Versions 1 to 3 were published, and the client has version 3.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        var packs: [String] = []
        for version in 1...3 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish("--pack", "level=\(folder["level"])")
            packs.append(try testSite.publishedPack("level"))
        }
        self.packs = packs
        try await testSite.fetch().succeeded()
    }

    @discardableResult
    private func restore(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(["restore", testSite.vault, "level"] + arguments).succeeded()
    }

    private func expectClientHas(
        _ version: Int64, _ text: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for store in [testSite.store, folder["fresh-\(UUID().uuidString)"]] {
            try await testSite.fetch(into: store).succeeded(at: location)
            #expect(
                try await testSite.status(of: store)["level"]?.version == version, sourceLocation: location)
            let path = try await testSite.path(of: "level", in: store)
            #expect(
                try String(contentsOfFile: "\(path)/file", encoding: .utf8) == text, sourceLocation: location)
        }
    }

    @Test func restoresAndStaysRestored() async throws {
        let targets = try Tree("\(testSite.site)/targets")
        try await restore("--version", "1")
        #expect(try testSite.publishedPack("level") == packs[0])
        #expect(try Tree("\(testSite.site)/targets") == targets, "nothing is sealed")
        try await expectClientHas(1, "version 1")
        let readers = try await Readers(of: testSite)

        // It stays live when the source changes.
        try folder.write("level/file", "version 4")
        try folder.write("other/file", "other")
        try await testSite.publish("--pack", "other=\(folder["other"])")
        #expect(try testSite.publishedPack("level") == packs[0])
        try await expectClientHas(1, "version 1")

        try await restore("--latest")
        try await expectClientHas(4, "version 4")
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        try folder.write("level/file", "version 5")
        try await testSite.publish()
        try await expectClientHas(5, "version 5")
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
    }

    /// Another source for the pack ends the restoration, too.
    @Test func aNewSourceEndsTheRestoration() async throws {
        try await restore("--version", "2")
        try await expectClientHas(2, "version 2")
        try folder.write("elsewhere/file", "elsewhere")
        try await testSite.publish("--pack", "level=\(folder["elsewhere"])")
        try await expectClientHas(4, "elsewhere")
    }

    /// An earlier version is restored without its source.
    @Test func restoresWithoutTheSource() async throws {
        try await restore("--version", "2")
        try FileManager.default.removeItem(atPath: folder["level"])
        try await testSite.publish()
        try await expectClientHas(2, "version 2")
    }

    @Test func fromBins() async throws {
        try testSite.settings { $0["bins"] = 4 }
        try folder.write("level/file", "version 4")
        try await testSite.publish()
        try await restore("--version", "1")
        try await expectClientHas(1, "version 1")
        try await restore("--version", "4")
        try await expectClientHas(4, "version 4")
    }

    /// A rotation may follow a theft: what only the old key has signed counts if the operator says so. Another role's key
    /// changes nothing.
    @Test func acrossARotation() async throws {
        try await testSite.trust("rotate", "root").succeeded()
        try await testSite.trust("rotate", "timestamp").succeeded()
        try await restore("--version", "2")
        try await restore("--latest")
        try await testSite.trust("rotate", "targets").succeeded()
        try await testSite.publish()
        let before = try Tree(testSite.vault)
        try await Command.run("restore", testSite.vault, "level", "--version", "1").failed(
            76, naming: "1.targets.json", "root version 3", "--accept-removed-keys")
        #expect(try Tree(testSite.vault) == before)
        try await restore("--version", "1", "--accept-removed-keys")
        try await expectClientHas(1, "version 1")
        // It is signed by the new key now.
        try await testSite.publish()
        try await expectClientHas(1, "version 1")
    }

    /// One more key takes nothing from what the first one has signed.
    @Test func withOneMoreKey() async throws {
        let colleague = try await testSite.makeKey("colleague")
        try await testSite.trust("add-key", "targets", colleague.publicKey).succeeded()
        try await restore("--version", "1")
        try await expectClientHas(1, "version 1")
    }

    /// The decision holds while the restored version waits for the signature of a key that is kept elsewhere.
    @Test func acrossARotationWithAnOfflineKey() async throws {
        try await testSite.trust("rotate", "targets").succeeded()
        try await testSite.publish()
        let key = try testSite.takeAway("targets.pem")
        try await Command.run(
            "restore", testSite.vault, "level", "--version", "1", "--accept-removed-keys"
        ).failed(77, naming: "pending")
        let name = try #require(try testSite.pending().first { $0.hasSuffix(".targets.json") })
        try await Command.run("trust", "sign", folder["vault/pending/\(name)"], "--key", key).succeeded()
        try await testSite.publish()
        try await expectClientHas(1, "version 1")
    }

    /// A thief of the old key lists packs of his own under old versions, where the publisher keeps metadata: they don't
    /// count, and the publisher's own do.
    @Test func metadataSignedByAStolenKey() async throws {
        let thief = try TemporaryFolder()
        try await Tool.run("cp", "-a", testSite.vault, thief["vault"])
        try thief.write("level/file", "forged")
        try await Command.run(
            ["publish", thief["vault"], "--pack", "level=\(thief["level"])"] + testSite.keys
        ).succeeded()
        try await testSite.trust("rotate", "targets").succeeded()
        try await testSite.publish()
        try await Tool.run(
            "cp", "\(thief["vault"])/site/metadata/4.targets.json",
            "\(testSite.site)/metadata/20.targets.json")
        try await Tool.run("cp", "-an", "\(thief["vault"])/site/targets/.", "\(testSite.site)/targets")
        try await Command.run("restore", testSite.vault, "level", "--version", "4").failed(
            76, naming: "root version 1")
        try await restore("--version", "3")
        try await expectClientHas(3, "version 3")
    }

    @Test func missingVersions() async throws {
        let before = try Tree(testSite.vault)
        for version in ["4", "18446744073709551615"] {
            try await Command.run("restore", testSite.vault, "level", "--version", version).failed(
                66, naming: "'level'", "3, 2, 1")
        }
        try await Command.run("restore", testSite.vault, "level", "--version", "0").failed(
            64, naming: "0 is no version")
        try await Command.run("restore", testSite.vault, "other", "--version", "1").failed(
            66, naming: "other", "level")
        try await Command.run("restore", testSite.vault, "level").failed(64, naming: "--latest")
        try await Command.run("restore", testSite.vault, "level", "--version", "1", "--latest").failed(64)
        #expect(try Tree(testSite.vault) == before)
    }

    /// The pack's file is missing: it is not listed.
    @Test func aMissingPackFile() async throws {
        try FileManager.default.removeItem(atPath: "\(testSite.site)/\(packs[0])")
        let before = try Tree(testSite.vault)
        try await Command.run("restore", testSite.vault, "level", "--version", "1").failed(
            66, naming: ".avpack")
        #expect(try Tree(testSite.vault) == before)
    }

    /// Versions that the vault never signed can't be restored.
    @Test func metadataThatTheVaultDidNotSign() async throws {
        let other = try await TestSite()
        for version in 1...9 {
            try other.folder.write("level/file", "forged \(version)")
            try await other.publish("--pack", "level=\(other.folder["level"])")
        }
        try await Tool.run(
            "cp", "\(other.site)/metadata/9.targets.json", "\(testSite.site)/metadata/9.targets.json")
        try await Command.run("restore", testSite.vault, "level", "--version", "9").failed(66, naming: "9")
    }

    /// The restored pack is sealed for the current vault keys.
    @Test(arguments: [true, false]) func changedVaultKeys(withOld: Bool) async throws {
        try await Command.run("keygen", "-o", folder["second.jwks"]).succeeded()
        let second = ["--keys", "file:\(folder["second.jwks"])"]
        try folder.write("level/file", "version 4")
        try await Command.run(["publish", testSite.vault] + testSite.keys + second).succeeded()
        let today = withOld ? testSite.keys + second : second
        try await Command.run(["publish", testSite.vault] + today).succeeded()
        try await Command.run(["restore", testSite.vault, "level", "--version", "1"] + today).succeeded()
        #expect(try testSite.publishedPack("level") == packs[0])
        try await Command.run(
            ["fetch", testSite.site, "--store", folder["second"], "--trust", testSite.root] + second
        ).succeeded()
        let path = try await testSite.path(of: "level", in: folder["second"])
        #expect(try String(contentsOfFile: "\(path)/file", encoding: .utf8) == "version 1")
        let withFirst = try await testSite.fetch(into: folder["first"])
        // A pack that is sealed for other keys waits, which is no failure.
        #expect(withFirst.exitCode == 0, "\(withFirst.errorText)")
        let state = try await testSite.status(of: folder["first"])["level"]?.state
        #expect((state == "loaded") == withOld, "\(state ?? "")")
    }
}
