import Testing
import VaultBase

/// A team publishes its part of a site with its own key; players fetch one site.
struct TeamTests {
    @Test(arguments: [nil, 4] as [Int64?]) func publishesAPartOfTheSite(bins: Int64?) async throws {
        let world = try await World.withTeam(bins: bins)
        #expect(try world.names(in: "team/site/metadata") == ["1.dlc1.json"])
        #expect(try !world.exists("team/trusted-root.json"))
        let readers = try await Readers(of: world, pack: "dlc1/one")
        let studios = try await Readers(of: world, pack: "level")
        try await readers.expectBelief(seeing: [Tree(world["one"])])

        // The studio's keys are not used for the team's metadata, nor the team's for the studio's.
        try world.write("one/file", "the team's second")
        try await world.publishTeam()
        #expect(try world.names(in: "team/site/metadata") == ["1.dlc1.json", "2.dlc1.json"])
        let key = try world.takeAway("targets.pem")
        let report = try await world.publish("--json").json()
        let written = report["written"]?.elements?.compactMap(\.text)
        #expect(written == ["2.dlc1.json", "2.snapshot.json", "timestamp.json"])
        #expect(
            try world.bytes("vault/site/metadata/2.dlc1.json")
                == world.bytes("team/site/metadata/2.dlc1.json"))
        try await readers.expectBelief(seeing: [Tree(world["one"])])
        try await Tool.run("mv", key, world["vault/keys/targets.pem"])

        try await world.publish(level: "the studio's second")
        try await studios.expectBelief(seeing: [Tree(world["level"])])
        try await readers.expectBelief(seeing: [Tree(world["one"])])
        try await world.expectNothingToPublish()
        let shown = try await world.roles()
        #expect(shown["dlc1"]?.version == 2 && shown["dlc1"]?.threshold == 1)
        try await world.run("audit $SITE $TRUST $KEYS").succeeded()
    }

    /// A new key, known to the studio, is sufficient; the packs are sealed again.
    @Test func aLostKey() async throws {
        let world = try await World.withTeam()
        let readers = try await Readers(of: world, pack: "dlc1/one")
        try await world.replaceTeamKey()
        try await world.publish()
        try await readers.expectBelief(seeing: [Tree(world["one"])])
    }

    /// The team's key is replaced: only the studio has to name the new one.
    @Test func anotherKeyForTheTeam() async throws {
        let world = try await World.withTeam()
        let readers = try await Readers(of: world, pack: "dlc1/one")
        let fresh = try await world.makeKey("fresh")
        try await world.forgeTeam(version: 2, key: fresh.key)
        try await world.keepsTheLast(naming: "2.dlc1.json")
        try await Tool.run("cp", fresh.publicKey, world["team/dlc1.pub.pem"])
        try await world.publish()
        try await readers.expectBelief(seeing: [Tree(world["one"])])
    }

    /// A removed team lists nothing.
    @Test func aRemovedTeam() async throws {
        let world = try await World.withTeam()
        let readers = try await Readers(of: world)
        try world.settings { $0["teams"] = nil }
        try await world.publish()
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.fetch(into: world["fresh"]).succeeded()
        #expect(try await world.status(of: world["fresh"]).keys.sorted() == ["level"])
    }
}
