import Foundation
import StrictJSON
import Testing

/// A site with packs by tags: `level1` is installed at first, `level2` and `level3` on demand, and share `textures`.
struct RequestSite {
    let testSite: TestSite
    var folder: TemporaryFolder { testSite.folder }
    var store: [String] { ["--store", testSite.store] }

    init() async throws {
        testSite = try await TestSite()
        for level in 1...3 { try folder.write("game/levels/\(level)/map", "map \(level)") }
        try folder.write("game/textures/grass", "grass")
        let folder = folder
        try testSite.settings {
            var rules = (1...3).map { level -> JSONValue in
                ["paths": .string("levels/\(level)/**"), "tags": [.string("level\(level)")]]
            }
            rules.append(["paths": "textures/**", "tags": ["level2", "level3"]])
            $0["resources"] = [
                "game": [
                    "source": .string(folder["game"]), "rules": .array(rules), "initial": ["level1"],
                    "preservation": ["level3": 80],
                ]
            ]
        }
        try await testSite.publish()
    }

    /// Runs a shell script with access to tags; missing packs are downloaded.
    func access(
        _ tags: String..., script: String, isOnline: Bool = true, through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await Command.run(
            ["access"] + tags + store + testSite.keys
                + (isOnline ? ["--site", testSite.site, "--trust", testSite.root] : [])
                + ["--", "sh", "-c", script], through: wrapper)
    }

    /// What `usage` says, by ID without the tree's name.
    func usage() async throws -> [String: JSONValue] {
        let answer = try await Command.run(["usage", "--json"] + store).succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return Dictionary(
            uniqueKeysWithValues: packs.map { (String(($0["id"]?.text ?? "").dropFirst("game/".count)), $0) })
    }

    /// What `purge` removed, or would.
    func purge(_ arguments: String...) async throws -> [String] {
        let answer = try await Command.run(["purge", "--json"] + store + arguments).succeeded().json()
        return try #require(answer["packs"]?.elements).map {
            String(($0["id"]?.text ?? "").dropFirst("game/".count))
        }
    }
}
