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
