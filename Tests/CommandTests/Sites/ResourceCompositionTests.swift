import Foundation
import Sampling
import TestFiles
import Testing
import VaultBase

/// Files that move, are tagged anew, renamed, or get other variants: the packs follow a model, and no content is downloaded twice.
@Suite(.timeLimit(.minutes(30))) struct ResourceCompositionTests {
    /// A file of the tree, as the model has it.
    private struct File {
        var name: String
        var tags: Set<String>
        /// Of one that has a small variant, too, for devices of the scale 0.
        var scale: Int?
        let bytes: [UInt8]

        var small: [UInt8] { Array("small \(name)".utf8) }
    }

    private static let size = 1_500_000

    private let world: World

    init() async throws { world = try await World() }

    private func publish(_ files: [File]) async throws {
        try? FileManager.default.removeItem(atPath: world["game"])
        var rules: [JSONValue] = []
        for file in files {
            try world.write("game/\(file.name)", file.bytes)
            guard !file.tags.isEmpty else { continue }
            var variants: [(name: String, scale: Int?)] = [(file.name, file.scale)]
            if file.scale != nil {
                try world.write("game/\(file.name)-small", file.small)
                variants.append(("\(file.name)-small", 0))
            }
            for (name, scale) in variants {
                var rule: JSONObject = [
                    "paths": .string("/\(name)"), "tags": .array(file.tags.sorted().map(JSONValue.string)),
                ]
                if let scale {
                    rule["traits"] = ["scale": .integer(Int64(scale))]
                    rule["as"] = .string(file.name)
                }
                rules.append(.object(rule))
            }
        }
        try world.settings {
            $0["resources"] = [
                "game": .object([
                    "source": .string(world["game"]), "rules": .array(rules),
                    "traits": ["scale": ["match": "nearest"]],
                ])
            ]
        }
        try await world.publish()
    }

    /// The files of each pack, with their content: those with the same tags, without variants, and for each set of devices.
    private func packs(of files: [File]) -> Set<[String: [UInt8]]> {
        var packs: Set<[String: [UInt8]]> = []
        for tagged in Dictionary(grouping: files.filter { !$0.tags.isEmpty }, by: \.tags).values {
            let (plain, scaled) = (tagged.filter { $0.scale == nil }, tagged.filter { $0.scale != nil })
            for pack in [
                plain.map { ($0.name, $0.bytes) }, scaled.map { ($0.name, $0.bytes) },
                scaled.map { ($0.name, $0.small) },
            ] where !pack.isEmpty {
                packs.insert(Dictionary(uniqueKeysWithValues: pack))
            }
        }
        return packs
    }

    private func expectPacks(of files: [File], _ change: String, _ form: String) async throws {
        let listed = try await world.run("list $SITE --json").succeeded().json()
        var found: [[String: [UInt8]]] = []
        for id in try #require(listed["packs"]?.elements).compactMap({ $0["id"]?.text }) {
            let path = try await world.path(of: id)
            var tree = path
            if form == "--sealed" {
                tree = world["opened-\(UUID())"]
                try await world.run("open \(path) -o \(tree) $KEYS").succeeded()
            }
            var pack: [String: [UInt8]] = [:]
            for name in try Tree(tree).files {
                pack[name] = try [UInt8](Data(contentsOf: URL(filePath: "\(tree)/\(name)")))
            }
            found.append(pack)
            if form == "--sealed" { try FileManager.default.removeItem(atPath: tree) }
        }
        let expected = packs(of: files)
        #expect(Set(found) == expected && found.count == expected.count, "after \(change)")
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
        try await world.fetch("--all --device all \(form)").succeeded()
        // Files that were without tags: in no pack, so that a later version of their last one may have replaced their content.
        var untagged: Set<Int> = []
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
            let isBack = !files[number].tags.isEmpty && untagged.remove(number) != nil
            if files[number].tags.isEmpty { untagged.insert(number) }
            let most = Self.size / 10 + (isBack ? Self.size * 11 / 10 : 0)
            try await publish(files)
            let planned = try await Nginx.run(over: world.site) { nginx in
                try await world.fetch("--all --dry-run --json", from: nginx.url).succeeded().json()[
                    "bytes"]
            }
            try await Nginx.run(over: world.site) { nginx in
                try await world.fetch("--all \(form)", from: nginx.url).succeeded()
                let bytes = try nginx.packBytes()
                #expect(bytes < most, "\(bytes) bytes after \(change)")
                #expect(planned == .integer(Int64(bytes)), "\(change)")
            }
            try await expectPacks(of: files, change, form)
        }
    }
}
