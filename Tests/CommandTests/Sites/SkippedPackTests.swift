import Testing
import VaultBase

/// Packs of a later format: a fetch names and skips them.
struct SkippedPackTests {
    /// Makes packs of a later format.
    private static func makeLater(_ names: [String], of world: World) async throws {
        try await world.forgeTargets { signed in
            for name in names { try signed.changePack(name) { $0["format"] = 99 } }
            // Other targets are ignored.
            try signed.change("targets") { $0["readme.txt"] = $0["packs/\(names[0]).avpack"] }
        }
    }

    @Test(arguments: ["--preload", "--all", "--dry-run"]) func fewAreNamed(option: String) async throws {
        let world = try await World("level", "music")
        try await Self.makeLater(["music"], of: world)
        let result = try await world.fetch("\(option)").succeeded()
        let lines = result.errorText.split(separator: "\n").filter { $0.hasPrefix("skipped") }
        #expect(lines == ["skipped  packs/music.avpack: pack format version 99 is unknown"])
        if option != "--dry-run" { #expect(try await world.status().keys.sorted() == ["level"]) }
        // A fetch of a named pack reports no other one.
        #expect(try await !world.fetch("level").succeeded().errorText.contains("skipped"))
        try await world.fetch("music").failed(65, naming: "format version 99")
    }

    /// No other pack exists: this is reported.
    @Test func manyAreCounted() async throws {
        let names = ["a", "b", "c", "d", "e", "f"]
        let world = try await World(packs: names)
        try await Self.makeLater(names, of: world)
        let result = try await world.fetch().succeeded()
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("skipped  ") }, "\(lines)")
        #expect(lines.last == "skipped  2 more packs that this release can't read")
    }
}
