import Testing

struct CatTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    @Test(arguments: ["maps/start.json", "maps/größe 1.txt", "run.sh", "noise.bin", "nothing"])
    func printsOneFile(path: String) async throws {
        try await bench.seal()
        let result = try await Command.run(["cat", bench.pack, path] + bench.keys).succeeded()
        #expect(result.output == (try bench.folder.bytes("level/\(path)")))
        #expect(result.errors == [])
    }

    @Test(arguments: [
        "absent", "maps", "empty/inner", "maps/start.json/", "./run.sh", "/run.sh", "maps/../run.sh", "",
        "RUN.SH",
    ])
    func refusesPathsThatAreNotFiles(path: String) async throws {
        try await bench.seal()
        try await Command.run(["cat", bench.pack, path] + bench.keys).failed(66)
    }

    /// U+00F6 and o with U+0308 look alike and are two names.
    @Test func comparesPathsByCodePoint() async throws {
        try await bench.seal()
        try await Command.run(["cat", bench.pack, "maps/gro\u{308}ße 1.txt"] + bench.keys).failed(66)
    }

    @Test func needsAManifest() async throws {
        try await bench.seal()
        try await Tool.run("mv", bench.pack + ".json", bench.folder["d.json"])
        try await Command.run(["cat", bench.pack, "run.sh"] + bench.keys).failed(66, naming: "--site")
        let result = try await Command.run(
            ["cat", bench.pack, "run.sh", "--manifest", bench.folder["d.json"]] + bench.keys)
        #expect(try result.succeeded().text == "#!/bin/sh\n")
    }

    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await bench.seal()
        let commands = [
            ["cat", bench.pack, "run.sh"], ["open", bench.pack, "--tar", "-"], ["inspect", bench.pack],
            ["inspect", bench.pack, "--json"],
        ]
        for command in commands {
            for script in ["exec \"$@\" > /dev/full", "exec \"$@\" >&-"] {
                try await Command.run(command + bench.keys, through: Command.shell(script))
                    .failed(74, naming: "standard output")
            }
        }
    }

    /// Bytes before a damaged piece may be printed; nothing of it or after it is.
    @Test func printsNoUnverifiedBytes() async throws {
        try await bench.seal()
        var bytes = try bench.folder.bytes("level.avpack")
        bytes[40_000] ^= 1  // In noise.bin, which doesn't compress.
        try bench.folder.write("level.avpack", bytes)
        let result = try await Command.run(["cat", bench.pack, "noise.bin"] + bench.keys)
        #expect(result.exitCode == 65)
        let content = try bench.folder.bytes("level/noise.bin")
        #expect(result.output.count < content.count && content.starts(with: result.output))
        // Other files stay readable.
        let other = try await Command.run(["cat", bench.pack, "run.sh"] + bench.keys).succeeded()
        #expect(other.text == "#!/bin/sh\n")
    }
}
