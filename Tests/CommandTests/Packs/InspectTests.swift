import StrictJSON
import Testing

struct InspectTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private func inspect(_ options: [String]) async throws -> CommandResult {
        try await Command.run(["inspect", samplePack.pack] + options).succeeded()
    }

    @Test func reportsStructureWithoutAKey() async throws {
        try await samplePack.seal(nil, as: nil, "--id", "levels/one", "--pack-version", "7")
        let answer = try await inspect([])
        let bytes = try samplePack.folder.bytes("level.avpack")
        for part in ["\(bytes.count) bytes", "levels/one", "version 7", SamplePack.keyID] {
            #expect(answer.text.contains(part), "\(part)")
        }
        for name in ["run.sh", "start.json", "noise"] { #expect(!answer.text.contains(name)) }
        let json = try await inspect(["--json"]).json().asObject(at: "answer")
        #expect(try json.integer("length", at: "") == Int64(bytes.count))
        let custom = try json.object("manifest", at: "").object("custom", at: "").object(
            "assetvault", at: "")
        #expect(custom == (try samplePack.manifest()))
        #expect(
            try json.string("contentKeyID", at: "") == samplePack.manifest().string("contentKeyID", at: ""))
        #expect(json["files"] == nil)
    }

    @Test func listsTheFilesWithAKey() async throws {
        try await samplePack.seal()
        let answer = try await inspect(samplePack.keys)
        let lines = answer.text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("x ") && $0.hasSuffix(" 10  run.sh") }, "\(answer.text)")
        #expect(lines.contains { $0.hasPrefix("d ") && $0.hasSuffix("  empty/inner") })
        #expect(lines.contains { $0.hasPrefix("- ") && $0.hasSuffix(" 200000  noise.bin") })
        let json = try await inspect(samplePack.keys + ["--json"]).json().asObject(at: "answer")
        let files = try json.array("files", at: "").map { try $0.asObject(at: "") }
        let expected: [(String, String, Int64)] = [
            ("empty/inner", "folder", 0), ("maps/größe 1.txt", "file", 13), ("maps/start.json", "file", 16),
            ("noise.bin", "file", 200_000), ("nothing", "file", 0), ("run.sh", "executable", 10),
        ]
        try #require(files.count == expected.count)
        for (file, (path, kind, size)) in zip(files, expected) {
            #expect(try file.string("path", at: "") == path)
            #expect(try file.string("kind", at: "") == kind)
            #expect(try file.integer("size", at: "") == size)
        }
        #expect(try json.integer("openedSize", at: "") == expected.reduce(0) { $0 + $1.2 })
    }

    @Test func namesTheMissingManifest() async throws {
        try await samplePack.seal()
        try await Tool.run("rm", samplePack.pack + ".json")
        #expect(try await inspect([]).text.contains("manifest      none"))
        #expect(try await inspect(["--json"]).json().asObject(at: "")["manifest"] == nil)
        try await Command.run(["inspect", samplePack.pack] + samplePack.keys).failed(66, naming: "--site")
    }

    @Test func refusesATruncatedPack() async throws {
        try await samplePack.seal()
        let bytes = try samplePack.folder.bytes("level.avpack")
        for count in [0, 63, 64, 191, 192, bytes.count - 1] {
            try samplePack.folder.write("level.avpack", Array(bytes.prefix(count)))
            try await Command.run("inspect", samplePack.pack).failed(65, naming: samplePack.pack)
        }
        try await Command.run("inspect", samplePack.folder["absent"]).failed(
            66, naming: samplePack.folder["absent"])
    }
}
