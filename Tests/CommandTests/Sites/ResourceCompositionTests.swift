import Foundation
import Sampling
import StrictJSON
import Testing

/// Files that move, are tagged anew or renamed: the packs follow a model, and no content is downloaded twice.
@Suite(.timeLimit(.minutes(30))) struct ResourceCompositionTests {
    /// A file of the tree, as the model has it.
    private struct File {
        var name: String
        var tags: Set<String>
        var scale: Int?
        let bytes: [UInt8]

        /// The pack that it belongs to; nil without tags.
        var pack: String? {
            guard !tags.isEmpty else { return nil }
            return "game/" + tags.sorted().joined(separator: ".") + (scale.map { "/scale-\($0)" } ?? "")
        }
    }

    private static let size = 1_500_000

    private let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws { testSite = try await TestSite() }

    private func publish(_ files: [File]) async throws {
        try? FileManager.default.removeItem(atPath: folder["game"])
        for file in files { try folder.write("game/\(file.name)", file.bytes) }
        let rules = files.filter { !$0.tags.isEmpty }.map { file -> JSONValue in
            var rule: JSONObject = [
                "paths": .string("/\(file.name)"), "tags": .array(file.tags.sorted().map(JSONValue.string)),
            ]
            if let scale = file.scale { rule["traits"] = ["scale": .integer(Int64(scale))] }
            return .object(rule)
        }
        try testSite.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(folder["game"]), "rules": .array(rules),
                    "traits": ["scale": ["match": "nearest"]],
                ])
            ]
        }
        try await testSite.publish()
    }

    private func expectPacks(of files: [File], _ change: String, _ form: String) async throws {
        let expected = Dictionary(grouping: files.filter { $0.pack != nil }) { $0.pack ?? "" }
        let listed = try await Command.run("list", testSite.site, "--json").succeeded().json()
        let ids = try #require(listed["packs"]?.elements).compactMap { $0["id"]?.text }
        #expect(Set(ids) == Set(expected.keys), "\(change)")
        for (id, files) in expected {
            let path = try await testSite.path(of: id)
            var tree = path
            if form == "--sealed" {
                tree = folder["opened-\(UUID())"]
                try await Command.run(["open", path, "-o", tree] + testSite.keys).succeeded()
            }
            #expect(try Tree(tree).files == files.map(\.name).sorted(), "\(id) after \(change)")
            for file in files {
                #expect(FileManager.default.contents(atPath: "\(tree)/\(file.name)") == Data(file.bytes))
            }
            if form == "--sealed" { try FileManager.default.removeItem(atPath: tree) }
        }
    }

    @Test(arguments: ["--sealed", "--opened"]) func randomChangesMoveNoContent(form: String) async throws {
        var random = SeededGenerator(for: "ResourceCompositionTests\(form)")
        let tags = ["a", "b", "c"]
        var files = (0..<6).map { number in
            File(
                name: "f\(number)", tags: [tags[number % 3]], scale: number % 2 == 0 ? 1 + number / 2 : nil,
                bytes: Bytes.random(Self.size, seed: UInt64(number)))
        }
        try await publish(files)
        try await testSite.fetch(nil, "--all", form).succeeded()
        for round in 0..<Sampling.rounds(5, whole: 40) {
            let number = Int.random(in: files.indices, using: &random)
            let change: String
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                files[number].tags = Set(tags.filter { _ in Bool.random(using: &random) })
                change = "tags \(files[number].tags.sorted()) of \(files[number].name)"
            case 1:
                files[number].scale = [nil, 1, 2, 3].randomElement(using: &random) ?? nil
                change = "scale \(files[number].scale ?? 0) of \(files[number].name)"
            default:
                change = "another name for \(files[number].name)"
                files[number].name = "renamed-\(round)"
            }
            try await publish(files)
            let planned = try await Nginx.run(over: testSite.site, in: folder) { nginx in
                try await testSite.fetch(nginx.url, "--all", "--dry-run", "--json").succeeded().json()[
                    "bytes"]
            }
            try await Nginx.run(over: testSite.site, in: folder) { nginx in
                try await testSite.fetch(nginx.url, "--all", form).succeeded()
                let bytes = try nginx.packBytes()
                #expect(bytes < Self.size / 10, "\(bytes) bytes after \(change)")
                #expect(planned == .integer(Int64(bytes)), "\(change)")
            }
            try await expectPacks(of: files, change, form)
        }
    }
}
