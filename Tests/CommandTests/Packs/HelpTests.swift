import Testing

struct HelpTests {
    static let subcommands = [
        "keygen", "seal", "open", "cat", "inspect", "audit", "init", "publish", "serve", "fetch", "status",
        "path",
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
        let names = help.text.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .compactMap { $0.split(separator: " ").first }
        for name in Self.subcommands { #expect(names.contains(Substring(name)), "\(name)") }
        #expect(help.text.contains("EXAMPLE\n"))
        #expect(try await Command.run("--version").succeeded().text.hasSuffix("\n"))
    }
}
