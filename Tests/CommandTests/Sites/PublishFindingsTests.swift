import Foundation
import StrictJSON
import Testing

/// What `plan` finds, `publish` says, and `--strict` refuses.
@Suite(.timeLimit(.minutes(5))) struct PublishFindingsTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// A pack that is larger than its limit, with a native executable; and a file in no pack.
    init() async throws {
        testSite = try await TestSite()
        try folder.write("level/tool", [0x7F] + Array("ELF".utf8) + Array(repeating: 0, count: 200))
        try folder.write("game/menu", "menu")
        try folder.write("game/draft", "draft")
        try testSite.settings {
            $0["limits"] = ["pack": 100]
            $0["packs"] = ["level": ["source": .string(folder["level"])]]
            $0["resources"] = [
                "game": [
                    "source": .string(folder["game"]), "rules": [["paths": "menu", "tags": ["menu"]]],
                ]
            ]
        }
    }

    private func publish(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(["publish", testSite.vault] + arguments)
    }

    @Test(arguments: [[], ["--dry-run"]]) func isSaid(options: [String]) async throws {
        let planned = try await Command.run("plan", testSite.vault, "--json")
        #expect(planned.exitCode == 78)
        let findings = try #require(try planned.json()["findings"]?.elements)
        #expect(findings.count == 3, "\(findings)")
        let json = try await Command.run(["publish", testSite.vault, "--json", "--dry-run"]).succeeded()
        #expect(try json.json()["findings"]?.elements == findings)
        let result = try await Command.run(["publish", testSite.vault] + options).succeeded()
        for text in [
            "the pack 'level' has 204 bytes, 104 more than 100",
            "'tool' in 'level' is a native executable (ELF)",
            "1 file of 'game' is in no pack; 'draft' is the first",
        ] {
            #expect(
                result.errorText.components(separatedBy: "warning: \(text)").count == 2, "\(result.errorText)"
            )
        }
        // Said again, also where nothing changed.
        #expect(try await publish().succeeded().errorText.contains("native executable"))
    }

    @Test func strictlyRefused() async throws {
        let before = try Tree(testSite.vault)
        try await publish("--strict").failed(78, naming: "the pack 'level' has 204 bytes")
        try await publish("--strict", "--dry-run").failed(78)
        try testSite.settings { $0["limits"] = nil }
        try await publish("--strict").failed(78, naming: "'draft' is the first")
        try testSite.settings { $0["resources"] = nil }
        try await publish("--strict").failed(78, naming: "native executable (ELF)")
        #expect(try !folder.exists("vault/site/targets/packs"))
        #expect(try Tree(testSite.vault).files.filter { $0 != ".lock" } == before.files)
        try FileManager.default.removeItem(atPath: folder["level/tool"])
        try folder.write("level/file", "fine")
        let result = try await publish("--strict").succeeded()
        #expect(!result.errorText.contains("warning"), "\(result.errorText)")
    }

    /// A pack that the command itself declares counts, and one that is pinned needs no source.
    @Test func declaredByTheCommand() async throws {
        try folder.write("other/file", String(repeating: "x", count: 300))
        let result = try await publish("--pack", "other=\(folder["other"])").succeeded()
        #expect(result.errorText.contains("the pack 'other' has 300 bytes"), "\(result.errorText)")
        let before = try folder.bytes("vault/vault.json")
        try await publish("--pack", "third=\(folder["other"])", "--strict").failed(78)
        #expect(try folder.bytes("vault/vault.json") == before)
        for id in ["other", "level"] {
            try await Command.run("restore", testSite.vault, id, "--version", "1").succeeded()
        }
        try await Tool.run("rm", "-r", folder["other"], folder["level"], folder["game/draft"])
        try await publish("--strict").succeeded()
    }
}
