import Foundation
import StrictJSON
import Testing

/// What a team may not do, and the effect on the studio's site.
struct TeamRefusalTests {
    let studio: Studio
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        studio = try await Studio()
        (testSite, folder) = (studio.testSite, studio.folder)
    }

    /// Packs of others: clients trust the studio for its packs, whatever the team lists.
    @Test(arguments: ["level", "other", "dlc1/deep/er"]) func aPackOutsideItsPaths(id: String) async throws {
        try folder.write("foreign/file", "not the team's to publish")
        try await studio.publishTeam("--pack", "\(id)=\(folder["foreign"])")
        let readers = try await Readers(of: testSite)
        _ = try await Command.run("publish", testSite.vault)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status().keys.sorted() == ["dlc1/one", "level"])
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        let verdict = try await Judge.run(
            testSite.site, root: testSite.root, target: "packs/\(id).avpack", into: folder["download"])
        #expect(verdict.exitCode == (id == "level" ? 0 : 1))
    }

    /// A name of the studio's within a team's paths is refused whether it is quiet or not: two packs would have it.
    @Test(arguments: [false, true]) func aNameOfTheStudioWithinItsPaths(isQuiet: Bool) async throws {
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
            var packs = $0["packs"]?.members ?? [:]
            packs["dlc1/island"] = ["source": "../level"]
            $0["packs"] = .object(packs)
        }
        for options in [["--dry-run"], []] {
            let result = try await Command.run(["publish", testSite.vault] + options)
            result.failed(
                64, naming: "target packs/dlc1/island.avpack", "within the paths of the team 'dlc1'")
        }
    }

    /// So it is where a listing of before, or of another channel, is signed again.
    @Test(arguments: [
        ["promote", "--all", "--from", "beta", "--to", "live"],
        ["restore", "--channel", "live", "--to", "4"],
    ]) func aQuietNameOfBefore(words: [String]) async throws {
        func settings(_ packs: JSONObject, teams: JSONValue?) throws {
            try testSite.settings {
                $0["quietNames"] = true
                $0["channels"] = ["beta", "live"]
                $0["packs"] = .object(packs)
                $0["teams"] = teams
            }
        }
        let teams = try folder.json("vault/vault.json")["teams"] as JSONValue?
        let promotion = ["promote", testSite.vault, "--all", "--from", "beta", "--to", "live"]
        let level: JSONValue = ["source": "../level"]
        try settings(["level": level, "dlc1/island": level], teams: nil)
        try await testSite.publish()
        if words[0] == "restore" {
            // Snapshots 2 and 3 come first.
            try await Command.run(promotion).succeeded()
            try folder.write("level/file", "the studio's second")
            try await testSite.publish()
            try await Command.run(promotion).succeeded()
            try settings(["level": level], teams: nil)
            try await testSite.publish()
            try await Command.run(promotion).succeeded()
        }
        try settings(["level": level], teams: teams)
        let before = try Tree(testSite.vault)
        for options in [["--dry-run"], []] {
            try await Command.run([words[0], testSite.vault] + words.dropFirst() + options).failed(
                64, naming: "target packs/dlc1/island.avpack", "within the paths of the team 'dlc1'")
        }
        #expect(try Tree(testSite.vault) == before)
        guard words[0] == "restore" else { return }
        try await Command.run(promotion).succeeded()
        try await testSite.publish()
    }

    /// A refused declaration is not in the settings.
    @Test func aDeclarationWithinItsPaths() async throws {
        let before = try folder.bytes("vault/vault.json")
        try await Command.run("publish", testSite.vault, "--pack", "dlc1/island=\(folder["level"])")
            .failed(64, naming: "within the paths of the team 'dlc1'")
        #expect(try folder.bytes("vault/vault.json") == before)
    }

    /// The table of quiet names says which packs have which names, so it is nobody's but the studio's, whatever paths a team has.
    @Test func theTableOfQuietNames() async throws {
        try testSite.settings {
            var team = $0["teams"]?["dlc1"]?.members ?? [:]
            team["paths"] = ["packs/dlc1/*", "packs/a*"]
            $0["teams"] = ["dlc1": .object(team)]
        }
        try await testSite.publish()
        try await studio.forgeTeam(version: 2) { signed in
            var targets = signed["targets"]?.members ?? [:]
            guard var record = targets["packs/dlc1/one.avpack"]?.members,
                var custom = record["custom"]?.members, var pack = custom["assetvault"]?.members
            else { return }
            pack["id"] = "assetvault.names"
            custom["assetvault"] = .object(pack)
            record["custom"] = .object(custom)
            targets["packs/assetvault.names.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await studio.keepsTheLast(naming: "the table of the studio's quiet names")
    }

    /// A path of its own that leads to another pack's manifest is no pack.
    @Test func itsPathUnderAnothersID() async throws {
        let studios = try folder.json("vault/site/metadata/1.targets.json")["signed", "targets"] as JSONValue?
        let record = try #require(studios?.members?["packs/level.avpack"])
        try await studio.forgeTeam(version: 2) { $0["targets"] = ["packs/dlc1/one.avpack": record] }
        let digest = try #require(record["hashes", "sha256"]?.text)
        try folder.write(
            "team/site/targets/packs/dlc1/\(digest).one.avpack",
            folder.bytes("vault/site/\(testSite.publishedPack("level"))"))
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status().keys.sorted() == ["level"])
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// Gives the team's pack a fallback that would cost clients time, and that no client takes.
    private func makeTraitsLong(_ signed: inout JSONObject) {
        var targets = signed["targets"]?.members ?? [:]
        guard var record = targets["packs/dlc1/one.avpack"]?.members,
            var custom = record["custom"]?.members,
            var vault = custom["assetvault"]?.members
        else { return }
        let long = "z" + String(repeating: "-z", count: 20_000)
        vault["family"] = "dlc1"
        vault["traits"] = ["language": "z"]
        vault["matching"] = [
            "language": ["match": "language", "fallback": .array([.string(long)])]
        ]
        custom["assetvault"] = .object(vault)
        record["custom"] = .object(custom)
        targets["packs/dlc1/one.avpack"] = .object(record)
        signed["targets"] = .object(targets)
    }

    /// Texts that no client takes block the delivery alone.
    @Test func longTraits() async throws {
        try await studio.forgeTeam(version: 2, makeTraitsLong)
        try await studio.keepsTheLast(naming: "no client can read", "can't be a trait's value")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status().keys.sorted() == ["dlc1/one", "level"])
    }

    /// What a thief of the key has signed too far above says nothing about the team's own version.
    @Test func invalidManifestsTooFarAbove() async throws {
        try folder.write("one/file", "the team's second")
        try await studio.publishTeam()
        try await studio.forgeTeam(version: (1 << 53) - 1, makeTraitsLong)
        let published = try await testSite.publish()
        #expect(!published.errorText.contains("warning"), "\(published.errorText)")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
    }

    @Test func anotherKey() async throws {
        let stranger = try await testSite.makeKey("stranger")
        try await studio.forgeTeam(version: 2, key: stranger.key)
        try await studio.keepsTheLast(naming: "2.dlc1.json")
    }

    /// A thief of the team's key uses up the version numbers: the site does not follow, and the team recovers with
    /// another key as Trust.md says, also for clients that have seen it.
    @Test func aStolenKeyCanNotUseUpTheVersions() async throws {
        try await testSite.fetch().succeeded()
        try await studio.forgeTeam(version: (1 << 53) - 1)
        try await studio.keepsTheLast(naming: "9007199254740991.dlc1.json", "1000000")
        // As far as the thief may go, the team still can.
        try await studio.forgeTeam(version: 1_000_001)
        try await testSite.publish()
        try await testSite.fetch().succeeded()

        try FileManager.default.removeItem(atPath: folder["team/site/metadata/9007199254740991.dlc1.json"])
        let key = try await testSite.makeKey("dlc1-new")
        try await Tool.run("cp", key.key, folder["team/keys/dlc1.pem"]).succeeded()
        try folder.write("one/file", "after the theft")
        try await studio.publishTeam()
        try testSite.settings { settings in
            guard case .object(var teams)? = settings["teams"], case .object(var team)? = teams["dlc1"] else {
                return
            }
            team["keys"] = .array([.string(key.publicKey)])
            teams["dlc1"] = .object(team)
            settings["teams"] = .object(teams)
        }
        // What the thief signs with the old key from now on has no effect.
        let thief = try folder.bytes("team/site/metadata/1000001.dlc1.json")
        try folder.write("team/site/metadata/1000009.dlc1.json", thief)
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
    }

    @Test func aRollback() async throws {
        let first = try folder.bytes("team/site/metadata/1.dlc1.json")
        try folder.write("one/file", "version 2")
        try await studio.publishTeam()
        try await testSite.publish()
        try FileManager.default.removeItem(atPath: folder["team/site/metadata/2.dlc1.json"])
        try await studio.keepsTheLast(naming: "1.dlc1.json", "older")
        // A newer file name does not make it newer.
        try folder.write("team/site/metadata/3.dlc1.json", first)
        try await studio.keepsTheLast(naming: "3.dlc1.json")
    }

    @Test func expiredMetadata() async throws {
        try await studio.forgeTeam(version: 2) { $0["expires"] = "2020-01-01T00:00:00Z" }
        try await studio.keepsTheLast(naming: "2.dlc1.json", "expired at 2020-01-01")
    }

    @Test func malformedMetadata() async throws {
        try folder.write("team/site/metadata/2.dlc1.json", "{")
        try await studio.keepsTheLast(naming: "2.dlc1.json")
    }

    @Test func aDamagedPack() async throws {
        try folder.write("one/file", "version 2")
        try await studio.publishTeam()
        let pack = try #require(
            try Tree(studio.team).files.filter { $0.hasSuffix(".avpack") }
                .first { try !folder.exists("vault/\($0)") })
        var bytes = try folder.bytes("team/\(pack)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("team/\(pack)", bytes)
        try await studio.keepsTheLast(naming: ".avpack", "not the file that the team signed for")
        #expect(try !folder.exists("vault/\(pack)"))
        try FileManager.default.removeItem(atPath: folder["team/\(pack)"])
        try await studio.keepsTheLast(naming: ".avpack")
    }

    @Test func aTeamWithoutAPublication() async throws {
        let other = try await TestSite()
        try other.folder.write("level/file", "x")
        try await Command.run("init", other.folder["team"], "--team", "dlc1").succeeded()
        try other.settings {
            $0["teams"] = [
                "dlc1": ["paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site"]
            ]
        }
        try await Command.run("publish", other.vault).failed(66, naming: "dlc1", "published nothing")
    }

    /// Players get the studio's packs, with a warning about the team's. The studio can publish.
    @Test func metadataThatExpireInTheSite() async throws {
        try folder.write("one/file", "version 2")
        try folder.write(
            "team/vault.json",
            String(decoding: folder.bytes("team/vault.json"), as: UTF8.self)
                .replacing(#""targets": 365"#, with: #""targets": 10"#))
        try await studio.publishTeam()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        let later = try Clock.shifted(byDays: 11)
        for step in ["before", "after"] {
            let fetch = try await testSite.fetch(into: folder[step], through: later)
            #expect(fetch.exitCode == 76 && fetch.errorText.contains("dlc1"), "\(step): \(fetch.errorText)")
            #expect(try await testSite.tree(of: "level", in: folder[step]) == Tree(folder["level"]))
            #expect(try await testSite.status(of: folder[step])["dlc1/one"]?.state != "ready")
            try folder.write("level/file", "the studio's second")
            let publication = try await testSite.publish(through: later)
            #expect(publication.errorText.contains("warning") && publication.errorText.contains("dlc1"))
        }
        // Clients that have the team's pack keep it.
        let kept = try await testSite.fetch(through: later)
        #expect(kept.exitCode == 76)
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        try await studio.publishTeam(through: later)
        try await testSite.publish(through: later)
        try await testSite.fetch(into: folder["before"], through: later).succeeded()
    }

    @Test(arguments: [
        (#"{"paths": ["packs/dlc1/*"], "keys": [], "site": "../team/site"}"#, [64] as [Int32]),
        (
            #"{"paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "threshold": 2, "site": "../team/site"}"#,
            [64]
        ),
        (#"{"paths": ["packs/dlc1/*"], "keys": ["../nowhere.pem"], "site": "../team/site"}"#, [66]),
        (#"{"paths": ["packs/dlc1/*"], "keys": ["../level/file"], "site": "../team/site"}"#, [77]),
        (
            #"{"paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site", "more": 1}"#,
            [64]
        ),
        (#"{"keys": ["../team/dlc1.pub.pem"], "site": "../team/site"}"#, [64, 65]),
    ]) func invalidSettings(team: String, codes: [Int32]) async throws {
        let value = try JSONValue(parsing: Array(team.utf8).span, place: "team")
        try testSite.settings { $0["teams"] = ["dlc1": value] }
        let before = try Tree(testSite.site)
        let result = try await Command.run("publish", testSite.vault)
        #expect(codes.contains(result.exitCode), "\(result.errorText)")
        #expect(try Tree(testSite.site) == before)
    }
}
