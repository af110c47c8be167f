import Foundation
import SystemPackage
import Testing

/// Examples to paste, and shell completions.
struct ShellTests {
    /// Each command, also those of a group.
    private static func commands() async throws -> [String] {
        let commands = try await Command.subcommands()
        // The example of `keys` is that of `keys rekey`, which is examined with the options of that subcommand.
        var all = commands.filter { $0 != "keys" }
        for group in ["keys", "trust"] {
            #expect(commands.contains(group))
            all += try await Command.subcommands(of: group).map { "\(group) \($0)" }
        }
        return all
    }

    /// On a terminal of 80 columns no line of an example is broken but by a backslash, and the shell reads it.
    @Test(arguments: try await commands()) func examplesCanBePasted(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try await Command.run("\(words) --help", environment: ["COLUMNS": "80"]).succeeded().text
        let example = try #require(help.components(separatedBy: "EXAMPLE\n").dropFirst().first)
        let lines = example.components(separatedBy: "\n\n")[0].split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("  ") && $0.count <= 80 }, "\(example)")
        let script = lines.joined(separator: "\n")
        #expect(try await Tool.run("/bin/sh", "-nc", script).exitCode == 0, "\(script)")
        let joined = script.replacing(" \\\n", with: " ")
        for line in joined.split(separator: "\n") {
            // The rest of a line that was broken without a backslash would be a command of its own.
            #expect(line.contains("assetvault \(command)"), "\(line)")
            // What stands behind "--" is another program's.
            let own = line.split(separator: " ").prefix { $0 != "--" }
            for option in own where option.hasPrefix("--") {
                #expect(
                    help.components(separatedBy: "EXAMPLE\n")[1].contains("\n  \(option)")
                        || help.contains(", \(option)"),
                    "\(option) of \(line)")
            }
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionScripts(shell: String) async throws {
        let script = try await Command.run("--generate-completion-script \(shell)").succeeded().text
        // A command, and what one of its options takes.
        for word in ["purgeable", "install", "periodic"] { #expect(script.contains(word), "\(word)") }
    }

    /// The IDs of the packs that a store has.
    @Test func packsOfAStore() async throws {
        let world = try await World("one", "two")
        try await world.fetch().succeeded()
        for words in ["remove o $STORE", "remove o --store=\(world.store)"] as [Words] {
            let answer = try await world.run(
                "---completion remove -- positional@0 2 1 assetvault \(words)",
                environment: ["SAP_SHELL": "bash"])
            #expect(answer.text.split(separator: "\n").map(String.init) == ["one", "two"], "\(answer)")
        }
        let none = try await world.run("---completion remove -- positional@0 1 0 assetvault remove")
        #expect(none.exitCode == 0 && none.text == "\n", "\(none)")
    }

    /// The real shell with the real command.
    @Test func bashCompletes() async throws {
        let world = try await World("one", "two")
        try await world.fetch().succeeded()
        let script = try await world.run("--generate-completion-script bash").succeeded()
        try world.write("completion.bash", script.output)
        let lines = """
            PATH=$1:$PATH
            . "$2"
            COMP_WORDS=(assetvault remove --store "$3" "$4"); COMP_CWORD=4
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            $(complete -p assetvault | sed 's/.*-F \\([^ ]*\\).*/\\1/') assetvault "$4" "$3"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let bin = try Command.path.removingLastComponent().string
        let answer = try await Tool.run(
            "bash", "-c", lines, "bash", bin, world["completion.bash"], world.store, "t")
        #expect(
            answer.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == ["two"],
            "\(answer.text)\(answer.errorText)")
    }
}
