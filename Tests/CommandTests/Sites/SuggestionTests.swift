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
        let testSite = try await TestSite(publishing: ["level", "music"])
        let folder = testSite.folder
        try await testSite.publish("--pack", "levels/harbour=\(folder["level"])")
        let url = [testSite.site, "--store", testSite.store, "--trust", testSite.root]
        try await Command.run(["fetch", testSite.site, "musik"] + url.dropFirst() + testSite.keys)
            .failed(66, naming: "did you mean 'music'?")
        try await testSite.fetch().succeeded()
        let store = ["--store", testSite.store]
        for command in ["remove", "purgeable", "keep", "path"] {
            try await Command.run([command, "levle"] + store).failed(66, naming: "did you mean 'level'?")
        }
        try await Command.run(["path", "harbour"] + store).failed(66, naming: "'levels/harbour'")
        try await Command.run(["verify", "musc"] + store + testSite.keys).failed(66, naming: "'music'")
        try await Command.run(["unlock", "musc"] + store + testSite.keys).failed(66, naming: "'music'")
        try await Command.run(["repair", testSite.site, "musc"] + store).failed(66, naming: "'music'")
        try await Command.run("restore", testSite.vault, "muisc", "--version", "1")
            .failed(66, naming: "did you mean 'music'?")
    }

    /// A suggested command repeats the given options.
    @Test func suggestsFilesOfAPack() async throws {
        let samplePack = try SamplePack()
        try await samplePack.seal()
        let result = try await Command.run(["cat", samplePack.pack, "run.hs"] + samplePack.keys)
            .failed(66, naming: "did you mean 'run.sh'?")
        let hint = try #require(result.errorText.split(separator: ": assetvault ").last)
        let listed = try await Tool.run("/bin/sh", "-ec", "'\(try Command.path)' \(hint)").succeeded()
        #expect(listed.text.contains("run.sh"))
    }
}
