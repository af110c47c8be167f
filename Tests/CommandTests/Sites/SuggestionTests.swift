import Testing

/// A mistyped name is answered with a suggestion.
struct SuggestionTests {
    @Test(arguments: [
        (["pubish"], "'publish'"), (["tust"], "'trust'"), (["trust", "shwo", "v"], "'trust show'"),
        (["trust", "rotate", "v", "tagets"], "'targets'"),
        (["trust", "threshold", "v", "rot", "2"], "'root'"),
        (["trust", "add-key", "v", "snapshto", "k"], "'snapshot'"),
        (["downloader", "u", "--store", "s", "--request", "instal"], "'install'"),
    ])
    func suggestsCommandsAndOptions(arguments: [String], meant: String) async throws {
        try await Command.run(arguments).failed(64, naming: "did you mean \(meant)?")
    }

    @Test func suggestsNothingForAnUnrelatedWord() async throws {
        let result = try await Command.run("bogus").failed(64)
        #expect(!result.errorText.contains("did you mean"))
    }

    @Test func suggestsPacks() async throws {
        let workshop = try await Workshop(publishing: ["level", "music"])
        let folder = workshop.folder
        try await workshop.publish("--pack", "levels/harbour=\(folder["level"])")
        let url = [workshop.site, "--store", workshop.store, "--trust", workshop.root]
        try await Command.run(["fetch", workshop.site, "musik"] + url.dropFirst() + workshop.keys)
            .failed(66, naming: "did you mean 'music'?")
        try await workshop.fetch().succeeded()
        let store = ["--store", workshop.store]
        for command in ["remove", "purgeable", "keep", "path"] {
            try await Command.run([command, "levle"] + store).failed(66, naming: "did you mean 'level'?")
        }
        try await Command.run(["path", "harbour"] + store).failed(66, naming: "'levels/harbour'")
        try await Command.run(["verify", "musc"] + store + workshop.keys).failed(66, naming: "'music'")
        try await Command.run(["unlock", "musc"] + store + workshop.keys).failed(66, naming: "'music'")
        try await Command.run(["repair", workshop.site, "musc"] + store).failed(66, naming: "'music'")
        try await Command.run("restore", workshop.vault, "muisc", "--version", "1")
            .failed(66, naming: "did you mean 'music'?")
    }

    /// A suggested command repeats the given options.
    @Test func suggestsFilesOfAPack() async throws {
        let bench = try Bench()
        try await bench.seal()
        let result = try await Command.run(["cat", bench.pack, "run.hs"] + bench.keys)
            .failed(66, naming: "did you mean 'run.sh'?")
        let hint = try #require(result.errorText.split(separator: ": assetvault ").last)
        let listed = try await Tool.run("/bin/sh", "-ec", "'\(try Command.path)' \(hint)").succeeded()
        #expect(listed.text.contains("run.sh"))
    }
}
