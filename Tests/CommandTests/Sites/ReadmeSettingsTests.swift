import Foundation
import Testing
import VaultBase

/// The examples of a `vault.json` in the documentation publish as they stand.
struct ReadmeSettingsTests {
    @Test func theExamplesPublish() async throws {
        let path = "../../../../Sources/VaultAuthoring/VaultAuthoring.docc/Settings.md"
        let document = try String(
            contentsOf: URL(filePath: #filePath).appending(path: path).standardized, encoding: .utf8)
        let blocks = document.matches(of: /```json\n(?<text>(?s:.*?))```/).map { String($0.text) }
        let example = try #require(blocks.first { $0.contains(#""packs""#) })

        let world = try await World()
        try world.write("assets/one/maps/start.json", "{}")
        try world.write("assets/one/maps/start.psd", "layers")
        try world.write("assets/one/drafts/deep/er/plot.txt", "plot")
        try world.write("vault/vault.json", example)
        let report = try await world.publish()
        #expect(report.text.hasPrefix("added  levels/one  version 1"), "\(report.text)")
        try await world.fetch().succeeded()
        #expect(try await world.tree(of: "levels/one").files == ["maps/start.json"])
        let target = try world.json("vault/site/metadata/1.targets.json")[
            "signed", "targets", "packs/levels/one.avpack", "custom", "assetvault"]
        #expect(target?["policy"] == "essential")
        #expect(target?["tags"] == ["campaign"])
        #expect(target?["traits"] == ["language": "en"])

        // The other examples are single packs.
        try world.write("vault/first.txt", "maps/start.json\n")
        for pack in blocks where pack != example {
            try world.write("vault/vault.json", "{\"format\": 1, \"packs\": {\(pack)}}")
            try await world.publish()
        }
    }
}
