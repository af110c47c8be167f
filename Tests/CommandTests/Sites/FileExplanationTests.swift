import Foundation
import StrictJSON
import Testing

/// `plan --why` says which rules put a file where, and `plan --device` lists what the device gets alone.
@Suite(.timeLimit(.minutes(5))) struct FileExplanationTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws {
        testSite = try await TestSite()
        for path in [
            "levels/1/map.xml", "levels/1/sky@2x.png", "levels/1/sky@1x.png", "menu.xml", "draft.psd",
        ] {
            try folder.write("game/\(path)", path)
        }
        try folder.write("game/levels/.assetvault.json", #"{"tags": ["world"]}"#)
        try folder.write(
            "vault/vault.json",
            """
            {
              "format": 1,
              "packs": {"menu": {"source": "../game", "include": ["menu.xml"]}},
              "resources": {
                "game": {
                  "source": "../game", "exclude": ["*.psd"], "defaultTags": ["common"],
                  "traits": {"scale": {"match": "nearest"}},
                  "rules": [
                    {"paths": "levels/1/**", "tags": ["one"]},
                    {"paths": "*.xml", "tags": ["text"]},
                    {"paths": "*@2x.png", "traits": {"scale": 2}},
                    {"paths": "*@1x.png", "traits": {"scale": 1}}
                  ]
                }
              }
            }
            """)
    }

    private func why(_ path: String) async throws -> [String] {
        try await Command.run("plan", testSite.vault, "--why", path).succeeded().text
            .split(separator: "\n").map(String.init)
    }

    @Test func everyRuleThatMatches() async throws {
        let lines = try await why("levels/1/map.xml")
        #expect(lines.count == 6, "\(lines)")
        #expect(lines[0].contains("'levels/1/map.xml' of 'menu' is in no pack: \"include\""))
        #expect(lines[1] == "'levels/1/map.xml' is in 'game/one.text.world'")
        #expect(lines[2].contains("vault.json:9:9: game matches, and gives 'one'"))
        #expect(lines[3].contains("vault.json:10:9: game matches, and gives 'text'"))
        #expect(lines[4].contains("levels/.assetvault.json:1:1 matches, and gives 'world'"))
        #expect(lines[5].contains("is the default where no rule gives a tag, and would give 'common'"))
    }

    @Test func inSeveralSources() async throws {
        let lines = try await why("menu.xml")
        #expect(lines.contains("'menu.xml' is in 'menu'"), "\(lines)")
        #expect(lines.contains("'menu.xml' is in 'game/text'"), "\(lines)")
    }

    @Test func excludedOrMissing() async throws {
        #expect(try await why("draft.psd").last?.contains("\"exclude\" leave it out") == true)
        try await Command.run("plan", testSite.vault, "--why", "levels/2/map.xml").failed(
            66, naming: "no source of the vault has 'levels/2/map.xml'")
        try await Command.run("plan", testSite.vault, "--why", "../x").failed(64)
    }

    @Test func asJSON() async throws {
        let answer = try await Command.run(
            "plan", testSite.vault, "--json", "--why", "levels/1/sky@2x.png"
        ).succeeded().json()
        let source = try #require(answer["sources"]?.elements?.last)
        #expect(source["pack"] == "game/one.world/scale-2")
        let rules = try #require(source["rules"]?.elements)
        #expect(rules.map { $0["used"] } == [true, true, true, false])
        #expect(rules[1]["traits"] == ["scale": 2])
    }

    @Test func onlyWhatADeviceGets() async throws {
        func packs(_ arguments: String...) async throws -> [String] {
            let answer = try await Command.run(["plan", testSite.vault, "--json"] + arguments).succeeded()
                .json()
            return try #require(answer["packs"]?.elements).compactMap { $0["id"]?.text }
        }
        let all = [
            "game/one.text.world", "game/one.world/scale-1", "game/one.world/scale-2", "game/text", "menu",
        ]
        #expect(try await packs() == all)
        #expect(try await packs("--device", "all") == all)
        #expect(try await packs("--device", "scale=2") == all.filter { !$0.hasSuffix("scale-1") })
        let text = try await Command.run("plan", testSite.vault, "--device", "scale=1").succeeded().text
        #expect(!text.contains("scale-2"), "\(text)")
    }
}
