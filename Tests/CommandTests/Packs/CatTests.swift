import Testing

struct CatTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    @Test(arguments: ["maps/start.json", "maps/größe 1.txt", "run.sh", "noise.bin", "nothing"])
    func printsOneFile(path: String) async throws {
        try await samplePack.seal()
        let result = try await Command.run(["cat", samplePack.pack, path] + samplePack.keys).succeeded()
        #expect(result.output == (try samplePack.folder.bytes("level/\(path)")))
        #expect(result.errors == [])
    }

    @Test(arguments: [
        "absent", "map", "maps/start.json/x", "maps/start.json/", "./run.sh", "/run.sh", "maps/../run.sh", "",
        "RUN.SH",
    ])
    func refusesPathsThatAreNotFiles(path: String) async throws {
        try await samplePack.seal()
        try await Command.run(["cat", samplePack.pack, path] + samplePack.keys).failed(66)
    }

    @Test(arguments: ["maps", "empty", "empty/inner"]) func namesFolders(path: String) async throws {
        try await samplePack.seal()
        try await Command.run(["cat", samplePack.pack, path] + samplePack.keys).failed(
            66, naming: "\(path): is a folder")
    }

    /// U+00F6 and o with U+0308 look alike and are two names.
    @Test func comparesPathsByCodePoint() async throws {
        try await samplePack.seal()
        try await Command.run(["cat", samplePack.pack, "maps/gro\u{308}ße 1.txt"] + samplePack.keys).failed(
            66)
    }

    @Test func needsAManifest() async throws {
        try await samplePack.seal()
        try await Tool.run("mv", samplePack.pack + ".json", samplePack.folder["d.json"])
        try await Command.run(["cat", samplePack.pack, "run.sh"] + samplePack.keys).failed(
            66, naming: "--site")
        let result = try await Command.run(
            ["cat", samplePack.pack, "run.sh", "--manifest", samplePack.folder["d.json"]] + samplePack.keys)
        #expect(try result.succeeded().text == "#!/bin/sh\n")
    }

    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await samplePack.seal()
        let commands = [
            ["cat", samplePack.pack, "run.sh"], ["open", samplePack.pack, "--tar", "-"],
            ["inspect", samplePack.pack],
            ["inspect", samplePack.pack, "--json"],
        ]
        for command in commands {
            for (script, code) in [("exec \"$@\" > /dev/full", Int32(71)), ("exec \"$@\" >&-", 74)] {
                try await Command.run(command + samplePack.keys, through: Command.shell(script))
                    .failed(code, naming: "standard output")
            }
        }
    }

    /// Bytes before a damaged piece may be printed; nothing of it or after it is.
    @Test func printsNoUnverifiedBytes() async throws {
        try await samplePack.seal()
        var bytes = try samplePack.folder.bytes("level.avpack")
        bytes[40_000] ^= 1  // In noise.bin, which doesn't compress.
        try samplePack.folder.write("level.avpack", bytes)
        let result = try await Command.run(["cat", samplePack.pack, "noise.bin"] + samplePack.keys)
        #expect(result.exitCode == 65)
        let content = try samplePack.folder.bytes("level/noise.bin")
        #expect(result.output.count < content.count && content.starts(with: result.output))
        // Other files stay readable.
        let other = try await Command.run(["cat", samplePack.pack, "run.sh"] + samplePack.keys).succeeded()
        #expect(other.text == "#!/bin/sh\n")
    }
}
