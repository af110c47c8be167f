import ArgumentParser
import SystemPackage
import VaultCrypto

struct Keygen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a vault key: the secret that packs are sealed for.",
        discussion: """
            Writes a JWK Set with one fresh 256-bit key, mode 0600, and prints its key ID. An existing file \
            is never overwritten. With -o - the key goes to standard output, for a secret store, and its ID \
            to standard error. Keep a backup: without a vault key nothing that was sealed for it opens \
            again. With --passphrase the file is encrypted: a JWE, which every command reads where it reads \
            a JWK Set.

            EXAMPLE
              assetvault keygen -o vault.jwks
              assetvault keygen -o vault.jwks --passphrase ask
            """)

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The file to make; - for standard output.", valueName: "file"), completion: .file()
    )
    var output: String

    @OptionGroup var passphrase: PassphraseOption

    func run() throws {
        let passphrase = try passphrase.source()
        if output == "-" {
            let id = try VaultKeyFile.generate(into: StandardStreams.output(), passphrase: passphrase)
            Console.note("made the vault key \(id)")
        } else {
            let id = try VaultKeyFile.generate(at: FilePath(output), passphrase: passphrase)
            Console.answer(id.description)
        }
    }
}
