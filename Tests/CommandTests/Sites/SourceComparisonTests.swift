import FaultServer
import Foundation
import Sampling
import StrictJSON
import Testing

/// Updates that `plan` computes, compared with the real ones, and of very many packs.
@Suite(.timeLimit(.minutes(5))) struct SourceComparisonTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    /// A file that moves to another pack of its tree, also to a new one, is not downloaded again, and not counted.
    @Test(arguments: ["two", "new"])
    func updateOfAMovedFile(destination: String) async throws {
        try folder.write("tree/one/film", Bytes.random(3_000_000, seed: 1))
        try folder.write("tree/one/map", Bytes.random(400_000, seed: 2))
        try folder.write("tree/two/map", Bytes.random(400_000, seed: 3))
        try testSite.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(folder["tree"]),
                    "rules": [
                        ["paths": "one/**", "tags": ["one"]], ["paths": "two/**", "tags": ["two"]],
                        ["paths": "new/**", "tags": ["new"]],
                    ],
                ])
            ]
        }
        try await testSite.publish()
        try await testSite.fetch(nil, "--all", "--sealed").succeeded()
        try folder.makeFolder("tree/new")
        try FileManager.default.moveItem(
            atPath: folder["tree/one/film"], toPath: folder["tree/\(destination)/film"])
        let planned = try await Command.run("plan", testSite.vault, "--json", "--updates").succeeded().json()
        let said = try #require(planned["devices"]?.elements?.first?["updateLength"]?.number)
        #expect(said < 50_000, "\(said)")
        try await testSite.publish()
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--all", "--sealed").succeeded()
        #expect(server.packBytes == Int(said))
    }

    /// Of very many packs not all costs are computed, and both commands say so.
    @Test(.enabled(if: Sampling.isWhole)) func updatesOfVeryManyPacks() async throws {
        let packs = try (0..<1002).map { number -> (String, JSONValue) in
            try folder.write("many/\(number)/file", "content")
            return ("p\(number)", ["source": .string(folder["many/\(number)"])])
        }
        try testSite.settings { $0["packs"] = .object(JSONObject(lastWins: packs)) }
        try await testSite.publish()
        for number in 0..<1002 { try folder.write("many/\(number)/file", "changed") }
        let plan = try await Command.run("plan", testSite.vault, "--updates").succeeded()
        #expect(plan.errorText.contains("2 more packs changed"), "\(plan.errorText)")
        let publish = try await Command.run("publish", testSite.vault, "--dry-run").succeeded()
        #expect(publish.errorText.contains("2 more packs changed"), "\(publish.errorText)")
    }
}
