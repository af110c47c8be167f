import ArgumentParser
import VaultErrors

extension VaultError {
    /// What the argument parser objects to, in one line like every other error; nil for what is no objection, such as
    /// the text that `--help` asks for.
    init?(usage error: any Error) {
        guard AssetVaultCommand.exitCode(for: error) == .validationFailure else { return nil }
        let words = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }
        let known = AssetVaultCommand.configuration.subcommands.map { $0._commandName }
        let name = ["assetvault"] + words.prefix(1).filter(known.contains)
        if let word = words.first, name.count == 1 {
            self.init(
                .usage, "there is no command '\(word)'", at: "assetvault",
                remedy: "see 'assetvault --help'")
            return
        }
        self.init(
            .usage, AssetVaultCommand.message(for: error).split(separator: "\n").joined(separator: " "),
            at: name.last ?? "", remedy: "see '\(name.joined(separator: " ")) --help'")
    }
}
