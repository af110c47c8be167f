import FaultServer
import Testing
import VaultBase

/// A device whose traits change: the host sends the difference, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct DeviceChangeTests {
    let world: World

    /// A map, and a sky and texts with variants; each variant of the sky begins like the others.
    init() async throws {
        world = try await World()
        try world.write("game/map", Bytes.random(300_000, seed: 1))
        for scale in 1...3 {
            try world.write("game/sky/\(scale)/common", Bytes.random(400_000, seed: 2))
            try world.write("game/sky/\(scale)/own", Bytes.random(100_000 * scale, seed: UInt64(10 + scale)))
        }
        for language in ["de", "en"] { try world.write("game/texts/\(language)", "texts in \(language)") }
        let rules: [JSONValue] =
            [["paths": "*", "tags": ["level"]]]
            + (1...3).map { ["paths": .string("sky/\($0)/**"), "traits": ["scale": .integer($0)]] }
            + ["de", "en"].map { ["paths": .string("texts/\($0)"), "traits": ["language": .string($0)]] }
        try world.settings {
            $0["resources"] = [
                "game": [
                    "source": .string(world["game"]), "rules": .array(rules), "initial": ["level"],
                    "traits": ["scale": ["match": "nearest"], "language": ["match": "language"]],
                ]
            ]
        }
        try await world.publish()
    }

    /// What a fetch downloads of which packs.
    private func fetch(scale: Int, language: String) async throws -> (bytes: Int, packs: Set<String>) {
        let server = try FaultServer(world.site)
        try await world.fetch("--device scale=\(scale) --device language=\(language)", from: server.url)
            .succeeded()
        let packs = server.packs.compactMap { exchange in
            exchange.request.path.split(separator: "/").last?.split(separator: ".").dropFirst().first
        }
        return (try await server.packBytesAtRest, Set(packs.map(String.init)))
    }

    @Test func onlyTheDifferenceIsSent() async throws {
        let first = try await fetch(scale: 2, language: "de")
        #expect(first.packs == ["level", "scale-2", "language-de"])
        #expect((900_000..<950_000).contains(first.bytes), "\(first.bytes)")
        // The part that the variants have in common is here already.
        let scaled = try await fetch(scale: 3, language: "de")
        #expect(scaled.packs == ["scale-3"])
        #expect((300_000..<310_000).contains(scaled.bytes), "\(scaled.bytes)")
        let translated = try await fetch(scale: 3, language: "en")
        #expect(translated.packs == ["language-en"] && translated.bytes < 2_000, "\(translated)")
        // What was replaced is still here.
        let back = try await fetch(scale: 2, language: "de")
        #expect(back.bytes == 0, "\(back)")
        try await world.run("purge $STORE").succeeded()
        let again = try await fetch(scale: 3, language: "de")
        #expect(again.packs == ["scale-3"])
        #expect((300_000..<310_000).contains(again.bytes), "\(again.bytes)")
        // What the app removed stays away until it is asked for.
        let removed = "game/level/scale-2"
        try await world.run("remove \(removed) $STORE").succeeded()
        #expect(try await fetch(scale: 2, language: "de").bytes == 0)
        try await world.fetch("\(removed)").succeeded()
        #expect(try await world.status()[removed]?.version == 1)
    }
}
