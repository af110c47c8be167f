import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto

struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Show and change the vault keys that packs are sealed for.",
        discussion: """
            A vault key opens packs; which keys open which packs is signed metadata, so that keys change \
            without a download. An audience is a name for those who have certain keys ("audiences" in \
            vault.json); packs without "for" are for the vault's own keys, in keys/vault.jwks. These \
            commands print IDs, never keys; 'keys export' alone writes a key.

            EXAMPLE
              assetvault keys list my-game
              assetvault keys rekey my-game --audience press
            """,
        subcommands: [
            KeysList.self, KeysAdd.self, KeysRekey.self, KeysReseal.self, KeysRetire.self, KeysRemove.self,
            KeysExport.self, KeysCheck.self,
        ])
}

/// The vault whose own keys and audiences' keys are shown or changed.
struct VaultKeyOptions: ParsableArguments {
    @OptionGroup private var vault: VaultArgument
    @OptionGroup private var host: HostOptions
    @OptionGroup private var passphrase: PassphraseOption
    @OptionGroup private var service: KeyServiceOptions

    /// The request of an author who gives no other keys.
    func request() throws(VaultError) -> AuthorRequest {
        var request = AuthorRequest(keys: nil, now: .now)
        request.keyServices = try service.opener()
        request.host = try host.site()
        return request
    }

    func folder() throws(VaultError) -> VaultFolder { try vault.folder(passphrase) }
}

struct AudienceOption: ParsableArguments {
    @Option(
        name: .customLong("audience"),
        help: ArgumentHelp("Whose keys; without it the vault's own.", valueName: "name"))
    var name: String?
}

struct KeysAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make one more key for the vault or an audience.",
        discussion: """
            The key is added to the audience's file, which stays encrypted if it is. For an audience that \
            vault.json does not declare, keys/NAME.jwks is made and declared, encrypted with --passphrase; a \
            file of that name with one key is declared as it is. Prints the key's ID. The next 'publish' \
            seals for the key, too.

            EXAMPLE
              assetvault keys add my-game --audience press
            """)

    @OptionGroup var vault: VaultArgument
    @OptionGroup var audience: AudienceOption
    @OptionGroup var passphrase: PassphraseOption

    func run() async throws {
        let id = try await KeyReplacement.add(to: audience.name, in: vault.folder(passphrase))
        Console.answer(id.description)
        Console.note("'publish' seals for it from now on")
    }
}

struct KeysExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the content key of a pack or of its resource tree.",
        discussion: """
            The key opens the pack, all its versions with the same content key, and the other packs of its \
            resource tree, which share it. It unwraps nothing else. The file is a JWK Set with mode 0600, \
            for --keys; with -o - it goes to standard output.

            EXAMPLE
              assetvault keys export my-game --pack levels/one -o levels-one.jwks
            """)

    @OptionGroup var vault: VaultArgument
    @OptionGroup var host: HostOptions
    @OptionGroup var keys: KeyOptions

    @Option(help: ArgumentHelp("The pack.", valueName: "id"))
    var pack: String

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The file to make; - for standard output.", valueName: "file"), completion: .file()
    )
    var output: String

    func run() async throws {
        let ring = try await ContentKeyExport.key(
            of: PackID(pack), in: vault.folder(keys.passphrase), keys.request(at: host))
        // The reader of the pack does not know the vault's passphrase.
        if output == "-" {
            try VaultKeyFile.write(ring, into: StandardStreams.output())
        } else {
            try VaultKeyFile.write(ring, to: FilePath(output))
        }
        for id in ring.ids { Console.note("wrote the content key \(id)") }
    }
}
