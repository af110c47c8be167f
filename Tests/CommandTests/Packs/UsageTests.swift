import Testing

/// Invalid arguments: exit code 64, one line, nothing changed.
struct UsageTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    @Test(arguments: [
        (["bogus"], "bogus"), (["--bogus"], "--bogus"),
        (["keygen"], "--output"), (["keygen", "-o"], "-o"), (["keygen", "-o", "x", "y"], "y"),
        (["seal"], "source"), (["seal", "level"], "--output"),
        (["seal", "level", "-o", "x", "--bogus"], "--bogus"),
        (["seal", "level", "-o", "x", "--pack-version", "one"], "--pack-version"),
        (["seal", "level", "-o", "x", "--pack-version", "-1"], "--pack-version"),
        (["seal", "level", "-o", "-"], "--manifest"),
        (["seal", "level", "-o", "-", "--manifest", "d", "--json"], "--json"),
        (["open"], "pack"), (["open", "x"], "--tar"), (["open", "x", "-o", "y", "--tar", "-"], "--tar"),
        (["open", "x", "-o", "y", "--site", "s"], "--trust"),
        (["open", "x", "-o", "y", "--site", "s", "--trust", "r", "--manifest", "d"], "--manifest"),
        (["cat"], "pack"), (["cat", "x"], "path"), (["inspect"], "pack"),
        (["inspect", "x", "--site", "s"], "--trust"),
    ])
    func refusesInvalidArguments(arguments: [String], named: String) async throws {
        try await bench.unchanged {
            let result = try await Command.run(arguments, workingDirectory: bench.folder.path)
            result.failed(64, naming: named, "--help")
        }
    }

    @Test(arguments: [
        "", ".", "..", "Level", "a//b", "a/../b", "a..b", "/a", "a/", "-a", "_a", "é", "a b", "current",
    ])
    func refusesAnInvalidID(id: String) async throws {
        try await bench.unchanged {
            let option = id.isEmpty ? ["--id", ""] : ["--id=\(id)"]
            try await Command.run(["seal", bench.level, "-o", bench.pack] + option + bench.keys)
                .failed(64, naming: "'\(id)'")
        }
    }

    @Test(arguments: [
        "64 characters are the most that a segment may have, and these are more", "x\u{1B}[31m\nmore",
    ])
    func quotesAnInvalidIDInOneLine(id: String) async throws {
        try await Command.run(["seal", bench.level, "-o", bench.pack, "--id", id] + bench.keys).failed(64)
    }

    @Test(arguments: ["lev el", "Größe", "-"])
    func refusesASourceWhoseNameIsNotAnID(name: String) async throws {
        if name != "-" { try bench.folder.write("\(name)/file", "x") }
        try await bench.unchanged {
            let source = name == "-" ? name : bench.folder[name]
            try await Command.run(["seal", source, "-o", bench.pack] + bench.keys).failed(64, naming: "ID")
        }
    }

    /// A pipe has no name to derive the ID from.
    @Test func standardInputNeedsAnID() async throws {
        let tar = try await Tool.run("tar", "c", "-C", bench.level, ".").output
        try await bench.unchanged {
            try await Command.run(["seal", "-", "-o", bench.pack] + bench.keys, input: tar)
                .failed(64, naming: "--id")
        }
        try await Command.run(["seal", "-", "-o", bench.pack, "--id", "piped"] + bench.keys, input: tar)
            .succeeded()
    }

    /// A root needs its site.
    @Test func aRootAloneIsNotEnough() async throws {
        try await bench.seal()
        try await bench.unchanged {
            for command in [
                ["cat", bench.pack, "run.sh"], ["open", bench.pack, "-o", bench.folder["out"]],
                ["open", bench.pack, "--tar", "-"], ["inspect", bench.pack],
                ["audit", bench.pack],
            ] {
                try await Command.run(command + ["--trust", bench.folder["root.json"]] + bench.keys)
                    .failed(64, naming: "--site")
            }
        }
    }

    @Test func refusesAnEmptyName() async throws {
        try await bench.seal()
        try await bench.unchanged {
            for command in [
                ["seal", bench.level, "-o", ""], ["open", bench.pack, "-o", ""],
                ["open", bench.pack, "--tar", ""],
            ] {
                try await Command.run(command + bench.keys, workingDirectory: bench.folder.path).failed(64)
            }
            try await Command.run("keygen", "-o", "", workingDirectory: bench.folder.path).failed(64)
        }
    }

    @Test(arguments: ["0", "9007199254740992", "18446744073709551615"])
    func refusesAVersionOutOfRange(version: String) async throws {
        try await bench.unchanged {
            try await Command.run(
                ["seal", bench.level, "-o", bench.pack, "--pack-version", version] + bench.keys
            )
            .failed(64, naming: version)
        }
    }
}
