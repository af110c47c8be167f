import Foundation
import Testing
import VaultBase

/// A studio's vault, and that of a team that publishes `packs/dlc1/*` of its site with a key of its own.
extension World {
    var team: String { self["team"] }

    /// Both have published a pack: the studio `level`, the team `dlc1/one`.
    static func withTeam(bins: Int64? = nil) async throws -> World {
        let world = try await World()
        try world.write("level/file", "the studio's")
        try world.write("one/file", "the team's")
        try await world.run("init $WORK/team --team dlc1").succeeded()
        // Players have one key set that opens the packs of both.
        try await world.copy("vault/keys/vault.jwks", to: "team/keys/vault.jwks")
        try await world.publishTeam("--pack dlc1/one=$WORK/one")
        try world.settings {
            $0["teams"] = [
                "dlc1": [
                    "paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "threshold": 1,
                    "site": "../team/site",
                ]
            ]
            $0["bins"] = bins.map { .integer($0) }
        }
        try await world.publish(packs: ["level"])
        return world
    }

    /// Gives the team's packs other members than their source.
    func declareTeam(_ packs: [String: JSONObject]) throws {
        let sourced = packs.map { id, members in
            var members = members
            members["source"] = .string(self["one"])
            return (id, JSONValue.object(members))
        }
        try edit("team/vault.json") { $0["packs"] = .object(JSONObject(lastWins: sourced)) }
    }

    /// Declares so many packs of the team, `dlc1/p0` and so on, and publishes them.
    func publishTeam(packs count: Int, _ members: JSONObject = [:]) async throws {
        try declareTeam(Dictionary(uniqueKeysWithValues: (0..<count).map { ("dlc1/p\($0)", members) }))
        try await publishTeam()
    }

    @discardableResult
    func publishTeam(_ options: Words = "") async throws -> CommandResult {
        try await run("publish $WORK/team \(options)").succeeded()
    }

    /// As Trust.md says: a new key of the team's, its next version, then its new public key in the studio's settings.
    func replaceTeamKey() async throws {
        let key = try await makeKey("dlc1-new")
        try await Tool.run("cp", key.key, self["team/keys/dlc1.pem"])
        try await publishTeam()
        try await Tool.run("cp", key.publicKey, self["team/dlc1.pub.pem"])
    }

    /// Sets the tags that the team's packs may have; nil for none.
    func grant(_ tags: [JSONValue]?) throws {
        try settings { try $0.change("teams", "dlc1") { $0["tags"] = tags.map(JSONValue.array) } }
    }

    /// Declares the studio's pack with these tags.
    func tagLevel(_ tags: [JSONValue]) throws { try declare(["level": ["tags": .array(tags)]]) }

    /// Signs another content of the team's newest metadata with a key, by default the team's own, as its next version.
    func forgeTeam(
        version: Int64, key: String? = nil, _ change: (inout JSONObject) throws -> Void = { _ in }
    ) async throws {
        let newest = try newestName(of: "dlc1", in: "team/site/metadata")
        let name = "team/site/metadata/\(version).dlc1.json"
        var document: JSONObject = try json("team/site/metadata/\(newest)")
        document["signatures"] = []
        try document.change("signed") { signed in
            signed["version"] = .integer(version)
            try change(&signed)
        }
        try write(name, JSONValue.object(document).pretty())
        try await sign(self[name], with: key ?? self["team/keys/dlc1.pem"])
    }

    /// The name of a role's file of the highest version.
    func newestName(of role: String, in folder: String) throws -> String {
        try #require(
            try names(in: folder).filter { $0.hasSuffix(".\(role).json") }
                .max { $0.localizedStandardCompare($1) == .orderedAscending })
    }

    /// Expects the studio to keep the team's last listed state, for a reason, and its site to stay unchanged.
    func keepsTheLast(
        naming parts: String..., at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree("\(site)/metadata")
        let result = try await run("publish $VAULT").succeeded(at: location)
        for part in ["warning", "stays at version"] + parts {
            #expect(result.errorText.contains(part), "\(result.errorText)", sourceLocation: location)
        }
        #expect(try Tree("\(site)/metadata") == before, sourceLocation: location)
    }

    /// The team publishes its pack with the tags `both` and `theirs`, then the studio its own with `both`.
    func publishTagged(granting tags: [JSONValue]? = nil, bins: Int64? = nil) async throws -> CommandResult {
        try declareTeam(["dlc1/one": ["tags": ["both", "theirs"], "order": -100]])
        try await publishTeam()
        try declare(["level": ["tags": ["both"], "order": 100]]) { $0["bins"] = bins.map { .integer($0) } }
        try grant(tags)
        return try await publish()
    }
}
