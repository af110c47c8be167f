import Foundation
import Testing
import VaultBase

/// The plan in the documentation of resources is that of the tagged sample.
@Suite(.timeLimit(.minutes(5))) struct ReadmePlanTests {
    private let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized
    private let document = "Sources/VaultAuthoring/VaultAuthoring.docc/Resources.md"
    let world: World

    init() async throws {
        world = try await World()
        let sample = repository.appending(path: "Samples/tagged")
        try await Tool.run("python3", sample.appending(path: "make-game.py").path, world["game"])
        try world.write("vault/vault.json", Array(Data(contentsOf: sample.appending(path: "vault.json"))))
    }

    private func text(of path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    /// The lines below the command, in which `…` stands for others.
    @Test func theOutputIsThatOfTheDocument() async throws {
        let blocks = try text(of: document).matches(
            of: /```\n\$ assetvault plan my-game(?<rest>.*)\n(?<text>(?s:.*?))```/)
        let block = try #require(blocks.first)
        #expect(blocks.count == 1)
        let arguments = block.rest.split(separator: " ").map(String.init)
        let plan = try await world.run("plan $VAULT \(arguments)").succeeded()
        #expect(plan.errorText.isEmpty, "\(plan.errorText)")
        var shown = block.text.split(separator: "\n")[...]
        var isSkipping = false
        for line in plan.text.split(separator: "\n") {
            while shown.first == "…" {
                shown.removeFirst()
                isSkipping = true
            }
            if shown.first == line {
                shown.removeFirst()
                isSkipping = false
            } else {
                #expect(isSkipping, "not in the document: \(line)")
            }
        }
        #expect(shown.allSatisfy { $0 == "…" }, "\(shown)")
    }

    /// The settings that stand in the documentation of resources, word by word.
    @Test func theSettingsAreThoseOfTheDocumentation() throws {
        let settings = try text(of: "Samples/tagged/vault.json")
        #expect(try text(of: document).contains("```json\n\(settings)```"))
    }

    /// The same bytes every time, and image and sound files that others read.
    @Test func theSampleIsDeterministic() async throws {
        try await Tool.run(
            "python3", repository.appending(path: "Samples/tagged/make-game.py").path, world["again"])
        #expect(try Tree(world["again"]) == Tree(world["game"]))
        #expect(try Tree(world["again"]).files.count == 27)
        for file in try Tree(world["game"]).files {
            let start = try world.bytes("game/\(file)").prefix(16)
            switch file.split(separator: ".").last {
            case "png": #expect(start.starts(with: [0x89] + Array("PNG\r\n\u{1A}\n".utf8)))
            case "wav":
                #expect(
                    start.starts(with: Array("RIFF".utf8)) && start.suffix(8) == Array("WAVEfmt ".utf8)[...])
            default: let _: JSONValue = try world.json("game/\(file)")
            }
        }
    }
}
