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
}
