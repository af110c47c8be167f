import FaultServer
import Foundation
import Sampling
import Testing
import VaultBase

/// Updates that `plan` computes, compared with the real ones, and of very many packs.
@Suite(.timeLimit(.minutes(5))) struct SourceComparisonTests {
    let world: World

    init() async throws { world = try await World() }

    /// Sources with the same paths: the memory is a constant and at most 200 bytes for each file.
    @Test func memoryForEachFile() async throws {
        try world.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "one": {"source": "../one", "tags": ["both"]}, "two": {"source": "../two", "tags": ["both"]}}}
            """)
        func memory(ofFiles count: Int) async throws -> Int {
            for source in ["one", "two"] {
                try world.makeFolder("\(source)/folder")
                let names = "cd $1; seq -f folder/file-%05g.txt $2 | xargs touch"
                try await Tool.run("sh", "-ec", names, "sh", world[source], "\(count)")
            }
            return try await world.memory(of: "plan $VAULT")
        }
        let few = try await memory(ofFiles: 100)
        let many = try await memory(ofFiles: 30_000)
        let bytes = (many - few) * 1024 / (2 * 29_900)
        #expect(bytes <= 200, "\(bytes) bytes")
    }

    /// A file that moves to another pack of its tree, also to a new one, is not downloaded again, and not counted.
    @Test(arguments: ["two", "new"])
    func updateOfAMovedFile(destination: String) async throws {
        try world.write("game/one/film", Bytes.random(3_000_000, seed: 1))
        try world.write("game/one/map", Bytes.random(400_000, seed: 2))
        try world.write("game/two/map", Bytes.random(400_000, seed: 3))
        try world.declareTree(["one", "two", "new"].map { ("\($0)/**", [$0]) })
        try await world.publish()
        try await world.fetch("--all --sealed").succeeded()
        try world.makeFolder("game/new")
        try FileManager.default.moveItem(
            atPath: world["game/one/film"], toPath: world["game/\(destination)/film"])
        let planned = try await world.run("plan $VAULT --json --updates").succeeded().json()
        let said = try #require(planned["devices"]?.elements?.first?["updateLength"]?.number)
        #expect(said < 50_000, "\(said)")
        try await world.publish()
        let server = try FaultServer(world.site)
        try await world.fetch("--all --sealed", from: server.url).succeeded()
        #expect(try await server.packBytesAtRest == Int(said))
    }

    /// Of very many packs not all costs are computed, and both commands say so.
    @Test(.enabled(if: Sampling.isWhole)) func updatesOfVeryManyPacks() async throws {
        let packs = try (0..<1002).map { number -> (String, JSONValue) in
            try world.write("many/\(number)/file", "content")
            return ("p\(number)", ["source": .string(world["many/\(number)"])])
        }
        try world.settings { $0["packs"] = .object(JSONObject(lastWins: packs)) }
        try await world.publish()
        for number in 0..<1002 { try world.write("many/\(number)/file", "changed") }
        let plan = try await world.run("plan $VAULT --updates").succeeded()
        #expect(plan.errorText.contains("2 more packs changed"), "\(plan.errorText)")
        let publish = try await world.run("publish $VAULT --dry-run").succeeded()
        #expect(publish.errorText.contains("2 more packs changed"), "\(publish.errorText)")
    }
}
