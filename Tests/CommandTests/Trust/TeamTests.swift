import Foundation
import StrictJSON
import Testing

/// A team publishes its part of a site with its own key; players fetch one site.
struct TeamTests {
    @Test(arguments: [nil, 4] as [Int64?]) func publishesAPartOfTheSite(bins: Int64?) async throws {
        let studio = try await Studio(bins: bins)
        let (testSite, folder) = (studio.testSite, studio.folder)
        #expect(try folder.names(in: "team/site/metadata") == ["1.dlc1.json"])
        #expect(try !folder.exists("team/trusted-root.json"))
        let readers = try await Readers(of: testSite, pack: "dlc1/one")
        let studios = try await Readers(of: testSite, pack: "level")
        try await readers.expectBelief(seeing: [Tree(folder["one"])])

        // The studio's keys are not used for the team's metadata, nor the team's for the studio's.
        try folder.write("one/file", "the team's second")
        try await studio.publishTeam()
        #expect(try folder.names(in: "team/site/metadata") == ["1.dlc1.json", "2.dlc1.json"])
        let key = try testSite.takeAway("targets.pem")
        let report = try await testSite.publish("--json").json()
        let written = report["written"]?.elements?.compactMap(\.text)
        #expect(written == ["2.dlc1.json", "2.snapshot.json", "timestamp.json"])
        #expect(
            try folder.bytes("vault/site/metadata/2.dlc1.json")
                == folder.bytes("team/site/metadata/2.dlc1.json"))
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
        try await Tool.run("mv", key, folder["vault/keys/targets.pem"])

        try folder.write("level/file", "the studio's second")
        try await testSite.publish()
        try await studios.expectBelief(seeing: [Tree(folder["level"])])
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
        let shown = try await testSite.roles()
        #expect(shown["dlc1"]?.version == 2 && shown["dlc1"]?.threshold == 1)
        try await Command.run(["audit", testSite.site, "--trust", testSite.root] + testSite.keys).succeeded()
    }

    /// A new key, known to the studio, is sufficient; the packs are sealed again.
    @Test func aLostKey() async throws {
        let studio = try await Studio()
        let (testSite, folder) = (studio.testSite, studio.folder)
        let readers = try await Readers(of: testSite, pack: "dlc1/one")
        let fresh = try await testSite.makeKey("fresh")
        try await Tool.run("mv", fresh.key, folder["team/keys/dlc1.pem"])
        try await Tool.run("mv", fresh.publicKey, folder["team/dlc1.pub.pem"])
        try await studio.publishTeam()
        try await testSite.publish()
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
    }

    /// The team's key is replaced: only the studio has to name the new one.
    @Test func anotherKeyForTheTeam() async throws {
        let studio = try await Studio()
        let (testSite, folder) = (studio.testSite, studio.folder)
        let readers = try await Readers(of: testSite, pack: "dlc1/one")
        let fresh = try await testSite.makeKey("fresh")
        try await studio.forgeTeam(version: 2, key: fresh.key)
        try await studio.keepsTheLast(naming: "2.dlc1.json")
        try await Tool.run("cp", fresh.publicKey, folder["team/dlc1.pub.pem"])
        try await testSite.publish()
        try await readers.expectBelief(seeing: [Tree(folder["one"])])
    }

    /// A removed team lists nothing.
    @Test func aRemovedTeam() async throws {
        let studio = try await Studio()
        let readers = try await Readers(of: studio.testSite)
        try studio.testSite.settings { $0["teams"] = nil }
        try await studio.testSite.publish()
        try await readers.expectBelief(seeing: [Tree(studio.folder["level"])])
        try await studio.testSite.fetch(into: studio.folder["fresh"]).succeeded()
        #expect(try await studio.testSite.status(of: studio.folder["fresh"]).keys.sorted() == ["level"])
    }
}
