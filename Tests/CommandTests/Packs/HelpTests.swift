import Testing

struct HelpTests {
    static let subcommands = [
        "keygen", "seal", "open", "cat", "inspect", "audit", "init", "plan", "publish", "upload", "promote",
        "restore",
        "prune", "trust", "list", "serve", "fetch", "downloader", "unlock", "access", "remove", "purge",
        "purgeable", "keep", "preserve", "usage", "verify", "repair", "status", "path",
    ]

    @Test(arguments: subcommands) func everySubcommandShowsAnExample(name: String) async throws {
        let help = try await Command.run(name, "--help").succeeded()
        #expect(help.errors == [])
        let example = try #require(help.text.split(separator: "EXAMPLE\n").dropFirst().first)
        let line = try #require(example.split(separator: "\n").first)
        #expect(line.contains("assetvault \(name) "), "\(line)")
    }

    @Test func theCommandNamesItsSubcommands() async throws {
        let help = try await Command.run("--help").succeeded()
        let listed = try #require(help.text.split(separator: "SUBCOMMANDS:", maxSplits: 1).last)
        let names = listed.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        // The last line says how to get help for one of them.
        #expect(Set(names).subtracting(["See"]) == Set(Self.subcommands))
        #expect(help.text.contains("EXAMPLE\n"))
        #expect(try await Command.run("--version").succeeded().text.hasSuffix("\n"))
    }
}
