import Testing
import VaultBase

/// What a plan of a large game costs: it looks at names and sizes, and reads the first bytes of files.
struct PlanScaleTests {
    let world: World

    init() async throws { world = try await World() }

    private static let languages = ["de", "en", "fr", "ja"]

    /// Twenty-five sets of two tags each, in three scales and four languages.
    private func declare(fileSize: UInt64) throws {
        var rules: [JSONValue] = []
        for set in 0..<25 {
            for scale in 1...3 {
                for language in Self.languages {
                    try world.makeSparse("game/\(set)/texture@\(scale)x.\(language)", size: fileSize)
                }
            }
            rules.append([
                "paths": .string("\(set)/**"), "tags": [.string("area \(set)"), .string("chapter \(set)")],
            ])
        }
        for scale in 1...3 {
            rules.append(["paths": .string("*@\(scale)x.*"), "traits": ["scale": .integer(Int64(scale))]])
        }
        for language in Self.languages {
            rules.append(["paths": .string("*.\(language)"), "traits": ["language": .string(language)]])
        }
        try world.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(world["game"]), "rules": .array(rules),
                    "traits": [
                        "scale": ["match": "nearest"], "language": ["match": "language", "fallback": ["en"]],
                    ],
                ])
            ]
        }
    }

    /// Peak memory in KiB, and seconds.
    private func plan() async throws -> (memory: Int, seconds: Double) {
        let result = try await world.run(
            "plan $VAULT --json", through: ["/usr/bin/time", "-f", "%M %e", "-o", world["taken"]]
        ).succeeded()
        let answer = try result.json()
        #expect(answer["packs"]?.elements?.count == 300)
        #expect(answer["tags"]?.elements?.count == 50)
        #expect(answer["devices"]?.elements?.count == 12)
        let words = try world.text("taken").split { $0.isWhitespace }
        return (try #require(Int(words[0])), try #require(Double(words[1])))
    }

    /// Three hundred packs of 20 GB take no more memory than those of 2 GB.
    @Test func threeHundredPacks() async throws {
        try declare(fileSize: 6_666_667)
        let small = try await plan()
        try declare(fileSize: 66_666_667)
        let large = try await plan()
        print("plan of 300 packs: \(large.seconds) s, \(large.memory / 1024) MiB")
        #expect(large.memory < small.memory + 4 << 10, "\(small) \(large)")
    }
}
