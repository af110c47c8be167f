import StrictJSON
import Testing

/// Packs of a later format: a fetch names and skips them.
struct SkippedPackTests {
    private static func packs(of testSite: TestSite, _ names: [String]) async throws {
        try await testSite.forgeTargets { signed in
            var targets = try #require(signed["targets"]?.members)
            for name in names {
                var record = try #require(targets["packs/\(name).avpack"]?.members)
                var custom = try #require(record["custom"]?.members)
                var vault = try #require(custom["assetvault"]?.members)
                vault["format"] = 99
                custom["assetvault"] = .object(vault)
                record["custom"] = .object(custom)
                targets["packs/\(name).avpack"] = .object(record)
            }
            // Other targets are ignored.
            targets["readme.txt"] = targets["packs/\(names[0]).avpack"]
            signed["targets"] = .object(targets)
        }
    }

    @Test(arguments: ["--preload", "--all", "--dry-run"]) func fewAreNamed(option: String) async throws {
        let testSite = try await TestSite(publishing: ["level", "music"])
        try await Self.packs(of: testSite, ["music"])
        let result = try await testSite.fetch(nil, option).succeeded()
        let lines = result.errorText.split(separator: "\n").filter { $0.hasPrefix("skipped") }
        #expect(lines == ["skipped  packs/music.avpack: pack format version 99 is unknown"])
        if option != "--dry-run" { #expect(try await testSite.status().keys.sorted() == ["level"]) }
        // A fetch of a named pack reports no other one.
        #expect(try await !testSite.fetch(nil, "level").succeeded().errorText.contains("skipped"))
        try await testSite.fetch(nil, "music").failed(65, naming: "format version 99")
    }

    /// No other pack exists: this is reported.
    @Test func manyAreCounted() async throws {
        let names = ["a", "b", "c", "d", "e", "f"]
        let testSite = try await TestSite(publishing: names)
        try await Self.packs(of: testSite, names)
        let result = try await testSite.fetch().succeeded()
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("skipped  ") }, "\(lines)")
        #expect(lines.last == "skipped  2 more packs that this release can't read")
    }
}
