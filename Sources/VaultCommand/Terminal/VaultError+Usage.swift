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
                    at: name.joined(separator: " "), remedy: "see '\(name.joined(separator: " ")) --help'")
                return
            }
            command = next
            name.append(word)
        }
        self.init(
            .usage, AssetVaultCommand.message(for: error).split(separator: "\n").joined(separator: " "),
            at: name.count > 1 ? name.dropFirst().joined(separator: " ") : "arguments",
            remedy: "see '\(name.joined(separator: " ")) --help'"
        )
    }
}
