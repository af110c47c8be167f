import Foundation
import StrictJSON
import SystemPackage
import Testing

/// A studio's vault, and that of a team that publishes `packs/dlc1/*` of its site with a key of its own.
struct Studio {
    let testSite: TestSite
    let folder: TemporaryFolder
    var team: String { folder["team"] }

    /// Both have published a pack: the studio `level`, the team `dlc1/one`.
    init(bins: Int64? = nil) async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "the studio's")
        try folder.write("one/file", "the team's")
        try await Command.run("init", team, "--team", "dlc1").succeeded()
        try await shareKeys()
        try await Command.run("publish", team, "--pack", "dlc1/one=\(folder["one"])").succeeded()
        try testSite.settings { settings in
            settings["teams"] = [
                "dlc1": [
                    "paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "threshold": 1,
                    "site": "../team/site",
                ]
            ]
            settings["bins"] = bins.map { .integer($0) }
        }
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    /// Players have one key set that opens the packs of both.
    private func shareKeys() async throws {
        try await Tool.run("cp", folder["vault/keys/vault.jwks"], folder["team/keys/vault.jwks"])
    }

    /// Gives the team's packs other members than their source.
    func declareTeam(_ packs: [String: JSONObject]) throws {
        var settings: JSONObject = try folder.json("team/vault.json")
        let sourced = packs.map { id, members in
            var members = members
            members["source"] = .string(folder["one"])
            return (id, JSONValue.object(members))
        }
        settings["packs"] = .object(JSONObject(lastWins: sourced))
        try folder.write("team/vault.json", JSONValue.object(settings).pretty())
    }

    /// Sets the tags that the team's packs may have; nil for none.
    func grant(_ tags: [JSONValue]?) throws {
        try testSite.settings {
            var team = $0["teams"]?["dlc1"]?.members ?? [:]
            team["tags"] = tags.map(JSONValue.array)
            $0["teams"] = ["dlc1": .object(team)]
        }
    }

    /// Makes keys that the studio does not have: the audience `own` of the team's vault. Returns where they are.
    func makeOwnKeys() async throws -> String {
        let path = "\(team)/keys/own.jwks"
        try await Command.run("keygen", "-o", path).succeeded()
        var settings: JSONObject = try folder.json("team/vault.json")
        settings["audiences"] = ["own": "file:keys/own.jwks"]
        try folder.write("team/vault.json", JSONValue.object(settings).pretty())
        return path
    }

    @discardableResult
    func publishTeam(_ arguments: String..., through wrapper: [String] = []) async throws -> CommandResult {
        try await Command.run(["publish", team] + arguments, through: wrapper).succeeded()
    }

    /// Signs another content of the team's newest metadata with a key, by default the team's own, as its next version.
    func forgeTeam(
        version: Int64, key: String? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws {
        let newest = try #require(
            try folder.names(in: "team/site/metadata").filter { $0.hasSuffix(".dlc1.json") }
                .max { $0.localizedStandardCompare($1) == .orderedAscending })
        var signed = try #require(try folder.json("team/site/metadata/\(newest)")["signed"]?.members)
        signed["version"] = .integer(version)
        change(&signed)
        let name = "team/site/metadata/\(version).dlc1.json"
        let document: JSONObject = ["signatures": [], "signed": .object(signed)]
        try folder.write(name, JSONValue.object(document).pretty())
        try await Command.run(
            "trust", "sign", folder[name], "--key", key ?? folder["team/keys/dlc1.pem"]
        ).succeeded()
    }

    /// Expects the studio to keep the team's last listed state, for a reason, and its site to stay unchanged.
    func keepsTheLast(
        naming parts: String..., at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree("\(testSite.site)/metadata")
        let result = try await Command.run("publish", testSite.vault).succeeded(at: location)
        for part in ["warning", "stays at version"] + parts {
            #expect(result.errorText.contains(part), "\(result.errorText)", sourceLocation: location)
        }
        #expect(try Tree("\(testSite.site)/metadata") == before, sourceLocation: location)
    }
}
