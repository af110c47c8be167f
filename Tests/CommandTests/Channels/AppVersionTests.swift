import Foundation
import StrictJSON
import Testing

/// Versions of a pack for different versions of the app.
@Suite(.timeLimit(.minutes(5))) struct AppVersionTests {
    let testSite: TestSite
    var folder: TemporaryFolder { testSite.folder }

    /// Version 1 is for all apps, 2 from 2.0, and 3 from 3.0 on.
    init() async throws {
        testSite = try await TestSite()
        try await publish("one", for: nil)
        try await publish("two", for: ["from": "2.0"])
        try await publish("three", for: ["from": "3.0"])
    }

    @discardableResult
    func publish(
        _ content: String, for apps: JSONValue?, supporting supported: JSONValue? = nil
    ) async throws -> CommandResult {
        try folder.write("level/file", content)
        try testSite.settings {
            var pack: JSONObject = ["source": .string(folder["level"]), "policy": "essential"]
            pack["apps"] = apps
            $0["packs"] = ["level": .object(pack)]
            $0["apps"] = supported
        }
        return try await testSite.publish()
    }

    /// What an app of a version has after a fetch; nil for nothing.
    func content(for app: String?, in store: String? = nil) async throws -> String? {
        let store = store ?? folder["store-\(app ?? "any")"]
        let result = try await Command.run(
            ["fetch", testSite.site, "--all", "--store", store, "--trust", testSite.root] + testSite.keys
                + (app.map { ["--app-version", $0] } ?? []))
        #expect(result.exitCode == 0, "\(result.errorText)")
        guard try await testSite.status(of: store)["level"]?.version != nil else { return nil }
        return try String(
            contentsOfFile: try await testSite.path(of: "level", in: store) + "/file", encoding: .utf8)
    }

    @Test func eachAppGetsTheNewestForIt() async throws {
        let expected: [(String?, String)] = [
            ("1.0", "one"), ("1.99.7", "one"), ("2", "two"), ("2.10", "two"), ("3.0.0", "three"),
            ("30", "three"), (nil, "three"),
        ]
        for (app, content) in expected {
            #expect(try await self.content(for: app) == content, "\(app ?? "")")
        }
        let listed = try await Command.run("list", testSite.site).succeeded()
        #expect(listed.text.contains("also version 1, for apps all"), "\(listed.text)")
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys).succeeded()
        #expect(audit.text.contains("ok: 3 packs"), "\(audit.text)")
        // Other TUF clients see what the newest app gets.
        let verdict = try await Judge.run(
            testSite.site, root: testSite.root, target: "packs/level.avpack", into: folder["out"])
        #expect(try verdict.json()["target", "custom", "assetvault", "version"] == 3, "\(verdict.errorText)")
    }

    /// An app that was replaced by a newer one gets the newer pack; back again, the older one.
    @Test func theAppChanges() async throws {
        for (app, content) in [("1", "one"), ("3", "three"), ("2", "two")] {
            #expect(try await self.content(for: app, in: testSite.store) == content)
        }
        // The store goes on with the last one.
        #expect(try await content(for: nil, in: testSite.store) == "two")
        try await publish("for two", for: ["from": "2.0", "before": "3.0"])
        #expect(try await content(for: nil, in: testSite.store) == "for two")
        #expect(try await content(for: "3", in: testSite.store) == "three")
        #expect(try await content(for: "1", in: testSite.store) == "one")
    }

    /// Nothing changes without a change; a version that no supported app gets is listed no more.
    @Test func supportEnds() async throws {
        let before = try Tree(testSite.site)
        let again = try await testSite.publish("--json").json()
        #expect(again["packs"]?.elements?.first?["others"]?.elements?.last == ["version": 1, "apps": "all"])
        #expect(try Tree(testSite.site) == before)
        #expect(try await content(for: "1", in: testSite.store) == "one")
        try await publish("three", for: ["from": "3.0"], supporting: ["from": "2.5"])
        let listed = try await Command.run("list", testSite.site, "--json").succeeded().json()
        #expect(listed["packs"]?.elements?.first?["others"] == [["version": 2, "apps": "from 2.0"]])
        // An older app keeps what it has, and a new one gets nothing.
        #expect(try await content(for: "1", in: testSite.store) == "one")
        #expect(try await content(for: "1") == nil)
        try await testSite.fetch(nil, "level", "--app-version", "1", into: folder["new"]).failed(
            66, naming: "too old or too new")
    }

    /// A fix for old apps replaces what they had; a restored version wins over a newer one.
    @Test func versionsAreWithdrawn() async throws {
        let fixed = try await publish("one, fixed", for: ["before": "2.0"])
        #expect(fixed.text.contains("updated  level  version 4"), "\(fixed.text)")
        #expect(!fixed.text.contains("version 1 stays"), "\(fixed.text)")
        for (app, content) in [("1", "one, fixed"), ("2", "two"), ("3", "three")] {
            #expect(try await self.content(for: app, in: testSite.store) == content)
        }
        try await Command.run("restore", testSite.vault, "level", "--version", "1").succeeded()
        for (app, content) in [("1", "one"), ("2", "two"), ("3", "three")] {
            #expect(try await self.content(for: app, in: testSite.store) == content)
        }
        try await Command.run("restore", testSite.vault, "level", "--latest").succeeded()
        #expect(try await content(for: "1", in: testSite.store) == "one, fixed")
    }

    /// A client that names no version gets what the newest apps get, whatever was published last.
    @Test func anAppThatNamesNoVersion() async throws {
        try await publish("one, fixed", for: ["before": "2.0"])
        #expect(try await content(for: nil) == "three")
        #expect(try await content(for: "1") == "one, fixed")
        // Without the site, too.
        let offline = folder["offline"]
        try await Command.run(
            "downloader", testSite.site, "--store", offline, "--trust", testSite.root, "--request", "install"
        ).succeeded()
        try await Command.run(["unlock", "--store", offline] + testSite.keys).succeeded()
        #expect(
            try String(
                contentsOfFile: try await testSite.path(of: "level", in: offline) + "/file", encoding: .utf8)
                == "three")
        // Where no version is for all later apps, the newest ones are those with the highest bound.
        try await publish("three, last", for: ["before": "4.0"], supporting: ["before": "4.0"])
        try await publish("one, fixed again", for: ["before": "2.0"])
        #expect(try await content(for: nil, in: folder["bounded"]) == "three, last")
    }

    /// What other versions need stays at the host, and opens with the present keys.
    @Test func pruningAndOtherKeys() async throws {
        try await Command.run(
            "prune", testSite.vault, "--keep", "1", "--grace", "0d",
            through: Clock.shifted(byDays: 60)
        ).succeeded()
        for (app, content) in [("1", "one"), ("2", "two")] {
            #expect(try await self.content(for: app) == content)
        }
        try await Command.run("keygen", "-o", folder["new.jwks"]).succeeded()
        let keys = ["--keys", "exec:cat \(folder["new.jwks"])"]
        try await Tool.run("cp", folder["vault/keys/vault.jwks"], folder["old.jwks"])
        let both = JSONValue.object([
            "keys": .array(
                ["old.jwks", "new.jwks"].flatMap { name -> [JSONValue] in
                    (try? folder.json(name)["keys"]?.elements) ?? []
                })
        ])
        try folder.write("vault/keys/vault.jwks", both.pretty())
        try folder.setPermissions("vault/keys/vault.jwks", 0o600)
        try await testSite.publish()
        let store = folder["reader"]
        _ = keys
        try await Command.run(
            "fetch", testSite.site, "--all", "--store", store, "--trust", testSite.root, "--keys",
            "file:\(folder["new.jwks"])", "--app-version", "1"
        ).succeeded()
        #expect(try await testSite.status(of: store)["level"]?.version == 1)
    }

    /// A host without keys can't give an app a version for another one.
    @Test func aVersionOfAnotherApp() async throws {
        #expect(try await content(for: "1", in: testSite.store) == "one")
        let other = folder["other"]
        try await Command.run(
            "downloader", testSite.site, "--store", other, "--trust", testSite.root, "--request", "install",
            "--app-version", "3"
        ).succeeded()
        try await Tool.run("cp", "-a", "\(other)/shared/.", "\(testSite.store)/shared/")
        _ = try await Command.run(["unlock", "--store", testSite.store] + testSite.keys)
        #expect(try await testSite.status()["level"]?.version == 1)
        // The app that it is for opens it offline.
        try await Command.run(["unlock", "--store", other, "--app-version", "2"] + testSite.keys)
            .succeeded()
        #expect(try await testSite.status(of: other)["level"]?.version == nil)
        try await Command.run(["unlock", "--store", other, "--app-version", "3"] + testSite.keys)
            .succeeded()
        #expect(try await testSite.status(of: other)["level"]?.version == 3)
    }

    /// A tree's packs that the newest app does not need stay for the older ones.
    @Test func aResourceTree() async throws {
        for name in ["a", "b"] { try folder.write("tree/\(name)", "old \(name)") }
        func declare(_ tags: [String], for apps: JSONValue?) throws {
            let rules = tags.map { JSONValue.object(["paths": .string($0), "tags": [.string($0)]]) }
            try testSite.settings {
                var tree: JSONObject = ["source": .string(folder["tree"]), "rules": .array(rules)]
                tree["apps"] = apps
                $0["resources"] = ["game": .object(tree)]
            }
        }
        try declare(["a", "b"], for: nil)
        try await testSite.publish()
        for name in ["b", "c"] { try folder.write("tree/\(name)", "new \(name)") }
        try declare(["b", "c"], for: ["from": "2"])
        try await testSite.publish()
        let before = try Tree(testSite.site)
        try await testSite.publish()
        #expect(try Tree(testSite.site) == before)
        let expected: [(String, [String: Int64])] = [
            ("1", ["game/a": 1, "game/b": 1]), ("2", ["game/b": 2, "game/c": 1]),
        ]
        for (app, packs) in expected {
            _ = try await content(for: app)
            let status = try await testSite.status(of: folder["store-\(app)"])
            #expect(
                status.filter { $0.key != "level" && $0.value.version != nil }.mapValues(\.version) == packs)
        }
    }

    @Test func aTeamsPack() async throws {
        let studio = try await Studio()
        var settings: JSONObject = try studio.folder.json("team/vault.json")
        settings["packs"] = [
            "dlc1/one": .object(["source": .string(studio.folder["one"]), "apps": ["from": "2"]])
        ]
        try studio.folder.write("team/vault.json", JSONValue.object(settings).pretty())
        try studio.folder.write("one/file", "for the second app")
        try await studio.publishTeam()
        try await studio.testSite.publish()
        for (app, version) in [("1", 1), ("2", 2)] as [(String, Int64)] {
            let store = studio.folder["store-\(app)"]
            try await studio.testSite.fetch(nil, "--all", "--app-version", app, into: store).succeeded()
            #expect(try await studio.testSite.status(of: store)["dlc1/one"]?.version == version)
        }
    }

    @Test(
        arguments: [
            (["from": "x"], "no version of an app"), (["from": "1.-2"], "no version of an app"),
            (["from": "2", "before": "2.0"], "no version of an app is from"), (["form": "2"], "form"),
            (["from": "1.2.3.4.5.6.7.8.9"], "no version"), (["from": "99999999999"], "no version"),
        ] as [(JSONValue, String)])
    func invalidRanges(apps: JSONValue, expected: String) async throws {
        try testSite.settings {
            $0["packs"] = ["level": .object(["source": .string(folder["level"]), "apps": apps])]
        }
        try await Command.run("publish", testSite.vault).failed(64, naming: expected)
    }

    /// A promotion takes nothing from old apps either, although the other channel has nothing for them.
    @Test func promotionKeepsOldApps() async throws {
        try testSite.settings { $0["channels"] = ["dev", "live"] }
        try await testSite.publish()
        try testSite.settings { $0["packs"] = [:] }
        try await testSite.publish()
        try await publish("four", for: ["from": "4.0"])
        let missing = try await testSite.fetch(
            nil, "level", "--channel", "dev", "--app-version", "1", into: folder["dev"])
        missing.failed(66, naming: "too old or too new")
        try await Command.run("promote", testSite.vault, "--from", "dev", "--to", "live", "--all").succeeded()
        for (app, content) in [("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")] {
            #expect(try await self.content(for: app) == content)
        }
    }
}
