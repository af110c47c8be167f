import Testing

/// Invalid arguments: exit code 64, one line, nothing changed.
struct UsageTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

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
        try await samplePack.unchanged {
            let result = try await Command.run(arguments, workingDirectory: samplePack.folder.path)
            result.failed(64, naming: named, "--help")
        }
    }

    @Test(arguments: [
        "", ".", "..", "Level", "a//b", "a/../b", "a..b", "/a", "a/", "-a", "_a", "é", "a b", "current",
    ])
    func refusesAnInvalidID(id: String) async throws {
        try await samplePack.unchanged {
            let option = id.isEmpty ? ["--id", ""] : ["--id=\(id)"]
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack] + option + samplePack.keys
            )
            .failed(64, naming: "'\(id)'")
        }
    }

    @Test(arguments: [
        "64 characters are the most that a segment may have, and these are more", "x\u{1B}[31m\nmore",
    ])
    func quotesAnInvalidIDInOneLine(id: String) async throws {
        try await Command.run(
            ["seal", samplePack.level, "-o", samplePack.pack, "--id", id] + samplePack.keys
        ).failed(64)
    }

    @Test(arguments: ["lev el", "Größe", "-"])
    func refusesASourceWhoseNameIsNotAnID(name: String) async throws {
        if name != "-" { try samplePack.folder.write("\(name)/file", "x") }
        try await samplePack.unchanged {
            let source = name == "-" ? name : samplePack.folder[name]
            try await Command.run(["seal", source, "-o", samplePack.pack] + samplePack.keys).failed(
                64, naming: "ID")
        }
    }

    /// A pipe has no name to derive the ID from.
    @Test func standardInputNeedsAnID() async throws {
        let tar = try await Tool.run("tar", "c", "-C", samplePack.level, ".").output
        try await samplePack.unchanged {
            try await Command.run(["seal", "-", "-o", samplePack.pack] + samplePack.keys, input: tar)
                .failed(64, naming: "--id")
        }
        try await Command.run(
            ["seal", "-", "-o", samplePack.pack, "--id", "piped"] + samplePack.keys, input: tar
        )
        .succeeded()
    }

    /// A root needs its site.
    @Test func aRootAloneIsNotEnough() async throws {
        try await samplePack.seal()
        try await samplePack.unchanged {
            for command in [
                ["cat", samplePack.pack, "run.sh"],
                ["open", samplePack.pack, "-o", samplePack.folder["out"]],
                ["open", samplePack.pack, "--tar", "-"], ["inspect", samplePack.pack],
                ["audit", samplePack.pack],
            ] {
                try await Command.run(
                    command + ["--trust", samplePack.folder["root.json"]] + samplePack.keys
                )
                .failed(64, naming: "--site")
            }
        }
    }

    @Test func refusesAnEmptyName() async throws {
        try await samplePack.seal()
        try await samplePack.unchanged {
            for command in [
                ["seal", samplePack.level, "-o", ""], ["open", samplePack.pack, "-o", ""],
                ["open", samplePack.pack, "--tar", ""],
            ] {
                try await Command.run(command + samplePack.keys, workingDirectory: samplePack.folder.path)
                    .failed(64)
            }
            try await Command.run("keygen", "-o", "", workingDirectory: samplePack.folder.path).failed(64)
        }
    }

    @Test(arguments: ["0", "9007199254740992", "18446744073709551615"])
    func refusesAVersionOutOfRange(version: String) async throws {
        try await samplePack.unchanged {
            try await Command.run(
                ["seal", samplePack.level, "-o", samplePack.pack, "--pack-version", version] + samplePack.keys
            )
            .failed(64, naming: version)
        }
    }
}
