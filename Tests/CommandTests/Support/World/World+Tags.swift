import Testing
import VaultBase

/// Packs by tags.
extension World {
    /// `level1` is installed at first, `level2` and `level3` on demand, and share `textures`.
    static func withTags() async throws -> World {
        let world = try await World()
        for level in 1...3 { try world.write("game/levels/\(level)/map", "map \(level)") }
        try world.write("game/textures/grass", "grass")
        var rules = (1...3).map { ("levels/\($0)/**", ["level\($0)"]) }
        rules.append(("textures/**", ["level2", "level3"]))
        try world.declareTree(rules, ["initial": ["level1"], "preservation": ["level3": 80]])
        try await world.publish()
        return world
    }

    /// Declares the folder `game` as the only tree of resources, with the tags of paths.
    func declareTree(_ rules: [(paths: String, tags: [String])], _ members: JSONObject = [:]) throws {
        var tree = members
        tree["source"] = .string(self["game"])
        tree["rules"] = .array(
            rules.map { ["paths": .string($0.paths), "tags": .array($0.tags.map(JSONValue.string))] })
        try settings { $0["resources"] = ["game": .object(tree)] }
    }

    /// Runs a shell script with access to tags, by the vault's keys unless others are given; missing packs are downloaded where the site
    /// can be asked.
    func access(
        _ tags: String..., script: String = "true", in store: String? = nil, isOnline: Bool = true,
        keys: [String]? = nil, through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await run(
            """
            access \(tags) --store \(store ?? self.store) \(keys ?? self.keys) \
            \(isOnline ? ["--site", site, "--trust", root] : []) -- sh -c \(script)
            """, through: wrapper)
    }

    /// The packs of a report of the store, by ID without the tree's name.
    func packs(_ report: Words) async throws -> [(id: String, pack: JSONValue)] {
        let answer = try await run("\(report) --json $STORE").succeeded().json()
        return try #require(answer["packs"]?.elements).map {
            (String(($0["id"]?.text ?? "").dropFirst("game/".count)), $0)
        }
    }

    func usage() async throws -> [String: JSONValue] {
        Dictionary(uniqueKeysWithValues: try await packs("usage").map { ($0.id, $0.pack) })
    }

    /// What `purge` removed, or would.
    func purge(_ options: Words = "") async throws -> [String] {
        try await packs("purge \(options)").map(\.id)
    }
}
