import Testing
import VaultBase

/// What a team may not do, and the effect on the studio's site.
struct TeamRefusalTests {
    let world: World

    init() async throws { world = try await .withTeam() }

    /// Packs of others: clients trust the studio for its packs, whatever the team lists.
    @Test(arguments: ["level", "other", "dlc1/deep/er"]) func aPackOutsideItsPaths(id: String) async throws {
        try world.write("foreign/file", "not the team's to publish")
        try await world.publishTeam("--pack \(id)=$WORK/foreign")
        let readers = try await Readers(of: world)
        _ = try await world.run("publish $VAULT")
        try await world.fetch().succeeded()
        #expect(try await world.status().keys.sorted() == ["dlc1/one", "level"])
        try await world.expectLoaded("level")
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        let verdict = try await Judge.run(
            world.site, root: world.root, target: "packs/\(id).avpack", into: world["download"])
        #expect(verdict.exitCode == (id == "level" ? 0 : 1))
    }

    /// The table of opaque names says which packs have which names, so it is nobody's but the studio's, whatever paths a team has.
    @Test func theTableOfOpaqueNames() async throws {
        try world.settings {
            try $0.change("teams", "dlc1") { $0["paths"] = ["packs/dlc1/*", "packs/a*"] }
        }
        try await world.publish()
        try await world.forgeTeam(version: 2) { signed in
            try signed.change("targets") { targets in
                targets["packs/assetvault.names.avpack"] = targets["packs/dlc1/one.avpack"]
            }
            try signed.changePack("assetvault.names") { $0["id"] = "assetvault.names" }
        }
        try await world.keepsTheLast(naming: "the table of the studio's opaque names")
    }

    /// A path of its own that leads to another pack's manifest is not a pack.
    @Test func itsPathUnderAnothersID() async throws {
        let studios = try world.json("vault/site/metadata/1.targets.json")["signed", "targets"] as JSONValue?
        let record = try #require(studios?.members?["packs/level.avpack"])
        try await world.forgeTeam(version: 2) { $0["targets"] = ["packs/dlc1/one.avpack": record] }
        let digest = try #require(record["hashes", "sha256"]?.text)
        try world.write(
            "team/site/targets/packs/dlc1/\(digest).one.avpack",
            world.publishedBytes(of: "level"))
        try await world.publish()
        try await world.fetch().succeeded()
        #expect(try await world.status().keys.sorted() == ["level"])
        try await world.expectLoaded("level")
    }

    /// Gives the team's pack a fallback that would cost clients time, and that no client takes.
    private func makeTraitsLong(_ signed: inout JSONObject) throws {
        let long = "z" + String(repeating: "-z", count: 20_000)
        try signed.changePack("dlc1/one") {
            $0["family"] = "dlc1"
            $0["traits"] = ["language": "z"]
            $0["matching"] = ["language": ["match": "language", "fallback": [.string(long)]]]
        }
    }

    /// Texts that no client takes block the delivery alone.
    @Test func longTraits() async throws {
        try await world.forgeTeam(version: 2, makeTraitsLong)
        try await world.keepsTheLast(naming: "no client can read", "can't be a trait's value")
        try await world.fetch().succeeded()
        #expect(try await world.status().keys.sorted() == ["dlc1/one", "level"])
    }

    /// What a thief of the key has signed too far above says nothing about the team's own version.
    @Test func invalidManifestsTooFarAbove() async throws {
        try world.write("one/file", "the team's second")
        try await world.publishTeam()
        try await world.forgeTeam(version: (1 << 53) - 1, makeTraitsLong)
        let published = try await world.publish()
        #expect(!published.errorText.contains("warning"), "\(published.errorText)")
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "dlc1/one") == Tree(world["one"]))
    }

    /// A thief of the team's key uses up the version numbers: the site does not follow, and the team recovers with
    /// another key as Trust.md says, also for clients that have seen it.
    @Test func aStolenKeyCanNotUseUpTheVersions() async throws {
        try await world.fetch().succeeded()
        try await world.forgeTeam(version: (1 << 53) - 1)
        try await world.keepsTheLast(naming: "9007199254740991.dlc1.json", "1000000")
        // As far as the thief may go, the team still can.
        try await world.forgeTeam(version: 1_000_001)
        try await world.publish()
        try await world.fetch().succeeded()

        try world.remove("team/site/metadata/9007199254740991.dlc1.json")
        let key = try await world.makeKey("dlc1-new")
        try await Tool.run("cp", key.key, world["team/keys/dlc1.pem"]).succeeded()
        try world.write("one/file", "after the theft")
        try await world.publishTeam()
        try world.settings {
            try $0.change("teams", "dlc1") { $0["keys"] = [.string(key.publicKey)] }
        }
        // What the thief signs with the old key from now on has no effect.
        let thief = try world.bytes("team/site/metadata/1000001.dlc1.json")
        try world.write("team/site/metadata/1000009.dlc1.json", thief)
        try await world.publish()
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "dlc1/one") == Tree(world["one"]))
    }
}
