import Foundation
import StrictJSON
import Testing

/// Packs that are sealed for some only.
@Suite(.timeLimit(.minutes(5))) struct AudienceTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }
    /// The IDs of the audiences' keys.
    private var keyIDs: [String: String] = [:]

    /// A film for the press, a menu for players, and a demo for both; the rest is for the vault's own key.
    init() async throws {
        testSite = try await TestSite()
        for name in ["film", "menu", "demo", "rest"] { try folder.write("\(name)/file", name) }
        for name in ["press", "players"] {
            let made = try await Command.run("keygen", "-o", folder["vault/keys/\(name).jwks"]).succeeded()
            keyIDs[name] = made.text.split(separator: "\n").first.map(String.init)
        }
        try declare(["film": ["press"], "menu": ["players"], "demo": ["press", "players"], "rest": nil])
        try await testSite.publish()
    }

    private func declare(_ audiences: [String: [JSONValue]?]) throws {
        try testSite.settings {
            $0["audiences"] = ["press": "file:keys/press.jwks", "players": "file:keys/players.jwks"]
            $0["packs"] = .object(
                JSONObject(
                    lastWins: audiences.map { name, audiences in
                        var pack: JSONObject = ["source": .string(folder[name]), "policy": "essential"]
                        pack["for"] = audiences.map { .array($0) }
                        return (name, .object(pack))
                    }))
        }
    }

    private func loaded(with name: String?) async throws -> [String] {
        let store = folder["store-\(name ?? "own")"]
        let keys = name.map { ["--keys", "file:\(folder["vault/keys/\($0).jwks"])"] } ?? testSite.keys
        let result = try await Command.run(
            ["fetch", testSite.site, "--all", "--store", store, "--trust", testSite.root] + keys)
        #expect(result.exitCode == 0, "\(result.errorText)")
        return try await testSite.status(of: store).filter { $0.value.version != nil }.keys.sorted()
    }

    @Test func eachOpensWhatItMay() async throws {
        #expect(try await loaded(with: "press") == ["demo", "film"])
        #expect(try await loaded(with: "players") == ["demo", "menu"])
        #expect(try await loaded(with: nil) == ["rest"])
        let listed = try await Command.run("list", testSite.site, "--json").succeeded().json()
        let keys = try #require(listed["packs"]?.elements).reduce(into: [String: Set<String>]()) {
            keys, pack in
            keys[pack["id"]?.text ?? ""] = Set((pack["keys"]?.elements ?? []).compactMap(\.text))
        }
        #expect(keys["film"] == Set([keyIDs["press"]].compactMap(\.self)))
        #expect(keys["demo"] == Set(keyIDs.values))
        let plan = try await Command.run("plan", testSite.vault).succeeded()
        #expect(plan.text.contains("for press, players"), "\(plan.text)")
    }

    /// A plain fetch takes nothing that none of the given keys opens, essential or not, until it is asked for.
    @Test func whatNoKeyOpensIsLeft() async throws {
        let store = folder["store-press"]
        func states(_ arguments: String...) async throws -> [String: String] {
            let keys = ["--keys", "file:\(folder["vault/keys/press.jwks"])"]
            let result = try await Command.run(
                ["fetch", testSite.site, "--store", store, "--trust", testSite.root] + keys + arguments)
            #expect(result.exitCode == 0, "\(result.errorText)")
            for name in arguments.isEmpty ? ["menu", "rest"] : [] {
                #expect(result.errorText.contains("locked  \(name): not downloaded"), "\(result.errorText)")
            }
            return try await testSite.status(of: store).mapValues(\.state).filter { $0.value != "absent" }
        }
        #expect(try await states() == ["demo": "loaded", "film": "loaded"])
        #expect(
            try await states("menu") == ["demo": "loaded", "film": "loaded", "menu": "toBeTransferred"])
        #expect(
            try await states("--preload") == [
                "demo": "loaded", "film": "loaded", "menu": "toBeTransferred", "rest": "toBeTransferred",
            ])
    }

    /// A command that gives keys is asked only for the keys of packs that are downloaded or opened, once for each.
    @Test func aCommandIsAskedForWhatIsNeeded() async throws {
        try testSite.settings { json in
            json["packs"] = [
                "film": ["source": .string(folder["film"]), "policy": "onDemand", "for": ["press"]],
                "menu": ["source": .string(folder["menu"]), "policy": "onDemand", "for": ["players"]],
                "demo": ["source": .string(folder["demo"]), "policy": "essential", "for": ["players"]],
                "rest": ["source": .string(folder["rest"]), "policy": "essential", "for": ["players"]],
            ]
        }
        try await testSite.publish()
        try folder.write(
            "key.sh",
            """
            #!/bin/sh
            echo "$1" >> \(folder["asked"])
            cat \(folder["vault/keys/players.jwks"])
            """)
        try await Tool.run("chmod", "+x", folder["key.sh"])
        let store = folder["store-exec"]
        try await Command.run(
            "fetch", testSite.site, "--store", store, "--trust", testSite.root, "--keys",
            "exec:\(folder["key.sh"])"
        ).succeeded()
        let loaded = try await testSite.status(of: store).filter { $0.value.version != nil }.keys.sorted()
        #expect(loaded == ["demo", "rest"])
        let asked = try String(contentsOfFile: folder["asked"], encoding: .utf8).split(separator: "\n")
        #expect(asked.map(String.init) == [keyIDs["players"]].compactMap(\.self), "\(asked)")
        // Packs that are there just as they are listed need no key.
        try await Command.run(
            "fetch", testSite.site, "--store", store, "--keys", "exec:\(folder["key.sh"])"
        ).succeeded()
        #expect(try String(contentsOfFile: folder["asked"], encoding: .utf8).split(separator: "\n") == asked)
    }

    /// However many packs for others come first: the key that many packs share is looked up before what only one of them has.
    @Test func manyPacksForOthers() async throws {
        let others = (1...260).map { "a/\($0)" }
        try testSite.settings { json in
            var packs = Dictionary(
                uniqueKeysWithValues: others.map {
                    ($0, ["source": .string(folder["film"]), "for": ["press"]] as JSONValue)
                })
            packs["own"] = ["source": .string(folder["rest"]), "for": ["players"]]
            json["packs"] = .object(JSONObject(lastWins: packs.sorted { $0.key < $1.key }))
        }
        try await testSite.publish()
        try folder.write(
            "key.sh",
            """
            #!/bin/sh
            [ "$1" != '\(keyIDs["players"] ?? "")' ] || cat '\(folder["vault/keys/players.jwks"])'

            """, permissions: 0o755)
        let store = folder["store-exec"]
        try await Command.run(
            "fetch", testSite.site, "--store", store, "--trust", testSite.root, "--keys",
            "exec:\(folder["key.sh"])"
        ).succeeded()
        let loaded = try await testSite.status(of: store).filter { $0.value.version != nil }.keys.sorted()
        #expect(loaded == ["own"])
    }

    /// Who can read what shows without a key.
    @Test func auditShowsWho() async throws {
        let report = try await Command.run("audit", testSite.site, "--json").json()
        let keys = try #require(report["packs"]?.elements).reduce(into: [String: Set<String>]()) {
            keys, pack in
            keys[pack["id"]?.text ?? ""] = Set((pack["keys"]?.elements ?? []).compactMap(\.text))
        }
        #expect(keys["film"] == Set([keyIDs["press"]].compactMap(\.self)))
        #expect(keys["demo"] == Set(keyIDs.values))
        #expect(keys["rest"]?.isDisjoint(with: keyIDs.values) == true && keys["rest"]?.count == 1)
        let text = try await Command.run("audit", testSite.site, "--trust", testSite.root).succeeded().text
        let line = try #require(text.split(separator: "\n").first { $0.contains("film") })
        #expect(line.hasSuffix("for \(keyIDs["press"] ?? "-")"), "\(line)")
    }

    /// A pack that is opened to others is not sealed again; whom it is closed to opens no later version.
    @Test func anAudienceChanges() async throws {
        let before = try testSite.publishedPack("film")
        try declare(["film": ["press", "players"], "menu": ["players"], "demo": ["players"], "rest": nil])
        try await testSite.publish()
        #expect(try testSite.publishedPack("film") == before)
        #expect(try await loaded(with: "players") == ["demo", "film", "menu"])
        #expect(try await loaded(with: "press") == ["film"])
    }

    @Test func aTreeIsForOneAudience() async throws {
        try folder.write("tree/a", "a file")
        try testSite.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(folder["tree"]), "for": ["press"], "initial": ["all"],
                    "rules": [["paths": "*", "tags": ["all"]]],
                ])
            ]
        }
        try await testSite.publish()
        #expect(try await loaded(with: "press") == ["demo", "film", "game/all"])
        #expect(try await loaded(with: "players") == ["demo", "menu"])
    }

    @Test(arguments: [(["pres"], "did you mean 'press'"), ([], "for nobody")])
    func audiencesAreDeclared(names: [JSONValue], expected: String) async throws {
        try declare(["film": names])
        let result = try await Command.run("publish", testSite.vault)
        #expect(result.exitCode == 64)
        #expect(result.errorText.contains(expected), "\(result.errorText)")
    }

    /// Nothing is sealed for fewer than were named.
    @Test func aMissingKeyFileStops() async throws {
        try FileManager.default.removeItem(atPath: folder["vault/keys/press.jwks"])
        try folder.write("film/file", "another")
        let result = try await Command.run("publish", testSite.vault)
        #expect(result.exitCode == 77, "\(result.errorText)")
        #expect(result.errorText.contains("press.jwks"), "\(result.errorText)")
    }
}
