import ArgumentParser
import SystemPackage
import VaultErrors
import VaultKeys

struct Keygen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a vault key: the secret that packs are sealed for.",
        discussion: """
            Writes a JWK Set with one fresh 256-bit key, mode 0600, and prints its key ID. An existing file is never \
            overwritten. With -o - the key goes to standard output, for a secret store, and its ID to standard error. \
            Keep a backup: without a vault key nothing that was sealed for it opens again.

            EXAMPLE
              assetvault keygen -o vault.jwks
            """)

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The file to make; - for standard output.", valueName: "file"), completion: .file()
    )
    var output: String

    func run() throws {
        SwapWarning.report()
        if output == "-" {
            let id = try VaultKeyFile.generate(into: StandardStreams.output())
            Console.note("made the vault key \(id)")
        } else {
            let id = try VaultKeyFile.generate(at: FilePath(output))
            Console.answer(id.description)
        }
    }
}
