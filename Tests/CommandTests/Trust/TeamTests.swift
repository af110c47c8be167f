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

    /// The team's vault can be made again after a kill, and has no root to change.
    @Test func theTeamsVault() async throws {
        let studio = try await Studio()
        let names = try studio.folder.names(in: "team")
        #expect(names.contains("dlc1.pub.pem") && !names.contains("trusted-root.json"))
        try await Command.run("trust", "rotate", studio.team, "root").failed(64, naming: "team")
        try await Command.run("init", studio.team, "--team", "dlc1").failed(73, naming: "vault already")
        for name in ["root", "targets", "packs", "packs-00", "Upper", "a/b", "..", ""] {
            try await Command.run("init", studio.folder["other"], "--team", name).failed(
                64, naming: "'\(name)'")
            #expect(try !studio.folder.exists("other"))
        }
        let before = try Tree(studio.team)
        try await studio.publishTeam()
        #expect(try Tree(studio.team) == before)
    }

    /// The team restores an earlier version in its own vault.
    @Test func theTeamRestores() async throws {
        let studio = try await Studio()
        let first = try Tree(studio.folder["one"])
        try studio.folder.write("one/file", "a mistake")
        try await studio.publishTeam()
        try await studio.testSite.publish()
        try await Command.run("restore", studio.team, "dlc1/one", "--version", "1").succeeded()
        try await studio.testSite.publish()
        try await studio.testSite.fetch().succeeded()
        #expect(try await studio.testSite.tree(of: "dlc1/one") == first)
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

    /// Two keys of a team must sign: both here, or one of them elsewhere.
    @Test func aTeamHasTwoKeys() async throws {
        let studio = try await Studio()
        let (testSite, folder) = (studio.testSite, studio.folder)
        let second = folder["second.pem"]
        try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", second)
        try await Tool.run("openssl", "pkey", "-in", second, "-pubout", "-out", folder["second.pub.pem"])
        try testSite.settings { settings in
            var team = settings["teams"]?["dlc1"]?.members ?? [:]
            team["keys"] = ["../team/dlc1.pub.pem", "../second.pub.pem"]
            team["threshold"] = 2
            settings["teams"] = ["dlc1": .object(team)]
        }
        try folder.write("one/file", "signed here and elsewhere")
        try await studio.publishTeam()
        let refused = try await testSite.publish()
        #expect(refused.errorText.contains("warning") && refused.errorText.contains("dlc1"))
        try await studio.keepsTheLast(naming: "dlc1")
        try await Command.run("trust", "sign", "\(studio.team)/site/metadata/2.dlc1.json", "--key", second)
            .succeeded()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        try await Tool.run("mv", second, "\(studio.team)/keys/second.pem")
        try folder.write("one/file", "signed by both here")
        try await studio.publishTeam()
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "dlc1/one") == Tree(folder["one"]))
        #expect(try await testSite.roles()["dlc1"]?.threshold == 2)
    }

    /// A pack that moves to a team is not reported as removed, whether its ID was quiet or not.
    @Test(arguments: [false, true]) func aPackMovesToTheTeam(isQuiet: Bool) async throws {
        let studio = try await Studio()
        try studio.testSite.settings {
            $0["teams"] = nil
            $0["quietNames"] = .bool(isQuiet)
        }
        try studio.folder.write("own/file", "the studio's own")
        try await studio.testSite.publish("--pack", "dlc1/one=\(studio.folder["own"])")
        func content() async throws -> String {
            try await studio.testSite.fetch().succeeded()
            let path = try await studio.testSite.path(of: "dlc1/one")
            return try String(contentsOfFile: "\(path)/file", encoding: .utf8)
        }
        #expect(try await content() == "the studio's own")
        try studio.testSite.settings { settings in
            settings["packs"] = ["level": ["source": "../level"]]
            settings["teams"] = [
                "dlc1": [
                    "paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "threshold": 1,
                    "site": "../team/site",
                ]
            ]
        }
        let result = try await studio.testSite.publish()
        #expect(result.text.contains("moved  dlc1/one  version 1"), "\(result.text)")
        #expect(result.text.contains("now from team dlc1") && !result.text.contains("removed"))
        #expect(try await content() == "the team's")
        let listed = try await Command.run("status", "--store", studio.testSite.store).succeeded().text
        #expect(listed.split(separator: "\n").filter { $0.contains("dlc1/one") }.count == 1, "\(listed)")
    }
}
