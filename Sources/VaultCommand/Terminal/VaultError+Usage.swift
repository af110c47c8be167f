import ArgumentParser
import VaultErrors

extension VaultError {
    /// An error of the argument parser, in one line like every other error; nil for the text of `--help` and the like.
    init?(usage error: any Error) {
        guard AssetVaultCommand.exitCode(for: error) == .validationFailure else { return nil }
        let words = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }
        var command: any ParsableCommand.Type = AssetVaultCommand.self
        var name = ["assetvault"]
        for word in words {
            let known = command.configuration.subcommands
            guard !known.isEmpty else { break }
            guard let next = known.first(where: { $0._commandName == word }) else {
                let path = name.dropFirst() + [word]
                let names = known.map { (name.dropFirst() + [$0._commandName]).joined(separator: " ") }
                let typed = path.joined(separator: " ")
                self.init(
                    .usage, "there is no command '\(typed)'" + Suggestion.question(for: typed, among: names),
                    at: Self.place(of: name), remedy: "see '\(name.joined(separator: " ")) --help'")
                return
            }
            command = next
            name.append(word)
        }
        self.init(
            .usage, AssetVaultCommand.message(for: error).split(separator: "\n").joined(separator: " "),
            at: Self.place(of: name), remedy: "see '\(name.joined(separator: " ")) --help'")
    }

    /// Of a command; every error begins with the name of the program.
    private static func place(of name: [String]) -> String {
        name.count > 1 ? name.dropFirst().joined(separator: " ") : "arguments"
    }
}
