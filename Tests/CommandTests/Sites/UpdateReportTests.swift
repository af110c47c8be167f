import FaultServer
import Foundation
import StrictJSON
import Testing

/// The update costs that `publish` reports before signing, compared with the real ones.
struct UpdateReportTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for number in 0..<40 {
            try folder.write("level/\(number)", Bytes.random(100_000, seed: UInt64(number)))
        }
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func change(_ numbers: Int..., in version: UInt64) throws {
        for number in numbers {
            try folder.write("level/\(number)", Bytes.random(90_000, seed: version << 8 | UInt64(number)))
        }
    }

    /// Bytes and requests of each update of the one pack, by the version that it comes from.
    private func updates(_ result: CommandResult) throws -> [Int64: [Int]] {
        let pack = try #require(result.json()["packs"]?.elements?.first)
        let updates = try #require(pack["updates"]?.elements)
        return try Dictionary(
            uniqueKeysWithValues: updates.map {
                (
                    try #require($0["from"]?.number),
                    [Int(try #require($0["bytes"]?.number)), Int(try #require($0["requests"]?.number))]
                )
            })
    }

    /// The dry run, the publication, a runner without the packs, and the transfer agree.
    @Test func theReportMatchesTheDownload() async throws {
        func hold(_ version: Int) async throws {
            try await testSite.fetch(nil, "--sealed", into: folder["store-\(version)"]).succeeded()
        }
        try await hold(1)
        try change(3, in: 2)
        try await testSite.publish()
        try await hold(2)
        try change(10, 11, 30, in: 3)
        let runner = try await Runner(of: testSite)
        let said = try updates(try await testSite.publish("--dry-run", "--json"))
        #expect(said.keys.sorted() == [1, 2])
        #expect(try updates(try await runner.publish(runner.host, "--dry-run", "--json").succeeded()) == said)
        #expect(try updates(try await runner.publish(runner.host, "--json").succeeded()) == said)
        #expect(try updates(try await testSite.publish("--json")) == said)
        for version in [1, 2] {
            let server = try FaultServer(testSite.site)
            try await testSite.fetch(server.url, "--sealed", into: folder["store-\(version)"]).succeeded()
            #expect([server.packBytes, server.packs.count] == said[Int64(version)])
        }
    }

    /// Updates from the last three versions are reported, unless their packs are gone.
    @Test func theLastVersions() async throws {
        for version in 2...5 {
            try change(version, in: UInt64(version))
            let result = try await testSite.publish()
            let from = result.text.matches(of: /from version (\d+)  \d+ bytes \(\d+\.\d %\), \d requests/)
            let versions = from.compactMap { Int($0.1) }
            #expect(versions == Array((max(1, version - 3)..<version).reversed()), "\(result.text)")
        }
        let packs = try Tree("\(testSite.site)/targets").files
        #expect(packs.count == 5)
        for pack in packs where "targets/\(pack)" != (try testSite.publishedPack("level")) {
            try await Tool.run("rm", "\(testSite.site)/targets/\(pack)")
        }
        try change(9, in: 9)
        #expect(try updates(try await testSite.publish("--json")).keys.sorted() == [5])
    }

    /// A change of metadata alone costs nothing.
    @Test func anUpdateOfTheMetadataAlone() async throws {
        try testSite.settings { settings in
            settings["packs"] = ["level": ["source": "../level", "policy": "essential"]]
        }
        let result = try await testSite.publish()
        #expect(result.text.hasPrefix("updated  level  version 1") && !result.text.contains("from version"))
    }

    @Test func aDryRunChangesNothing() async throws {
        try change(1, in: 2)
        try folder.write("other/file", "other")
        let before = try Tree(testSite.vault)
        let result = try await testSite.publish("--dry-run", "--pack", "other=\(folder["other"])")
        #expect(
            result.text.contains("updated  level  version 2") && result.text.contains("  from version 1  "))
        #expect(result.text.contains("added  other  version 1"))
        #expect(
            result.errorText
                == "nothing was signed or written; without --dry-run it is 2.targets.json, 2.snapshot.json, timestamp.json\n"
        )
        #expect(try Tree(testSite.vault) == before)

        let runner = try await Runner(of: testSite)
        try await runner.publish(runner.host, "--dry-run").succeeded()
        let (all, host) = (try Tree(runner.vault), try Tree(runner.host))
        let dry = try await runner.publish(runner.host, "--dry-run", "--json").succeeded()
        #expect(try dry.json()["written"] == [])
        #expect(try Tree(runner.vault) == all && Tree(runner.host) == host)
        #expect(try runner.written() == [])
        // Then it is published as if nothing had been.
        #expect(try await testSite.publish().text.contains("updated  level  version 2"))
    }

    /// What a dry run names is what is written then, also where metadata are merely renewed.
    @Test(arguments: [
        (0, 0), (0, 1), (25, 2), (25, 3), (300, 5),
    ]) func aDryRunNamesRenewals(days: Int, files: Int) async throws {
        if files == 1 { try change(1, in: 2) }
        if files == 3 {
            try await testSite.trust("add-key", "root", testSite.makeKey("more").publicKey).succeeded()
        }
        func names(_ result: CommandResult, _ member: String) throws -> [String] {
            try #require(result.json()[member]?.elements).compactMap(\.text).sorted()
        }
        let clock = try Clock.shifted(byDays: days)
        let dry = try await testSite.publish("--dry-run", "--json", through: clock)
        let said = try await testSite.publish("--dry-run", through: clock).errorText
        let written = try names(try await testSite.publish("--json", through: clock), "written")
        #expect(try names(dry, "toWrite") == written)
        #expect(written.isEmpty == (files == 0), "\(written)")
        for name in written { #expect(said.contains(name), "\(said)") }
    }

    /// A dry run needs no signing key, and fails like the publication.
    @Test func aDryRunWithoutSigningKeys() async throws {
        try change(1, in: 2)
        for key in ["root", "targets", "snapshot", "timestamp"] { _ = try testSite.takeAway("\(key).pem") }
        try await testSite.publish("--dry-run")
        try folder.makeFolder("vault/keys")
        try await Tool.run("rm", "-r", folder["level"])
        try await Command.run("publish", testSite.vault, "--dry-run").failed(66, naming: "level")
    }
}
