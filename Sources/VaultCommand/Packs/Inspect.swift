import ArgumentParser
import PackSources
import SealedPack
import StrictJSON
import VaultContent
import VaultErrors
import VaultKeys

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the header and manifest of a pack; with a key, also its files.",
        discussion: """
            Reads header and footer, with a key the catalog too; whether every piece
            is sound, 'assetvault audit' reports.

            EXAMPLE
              assetvault inspect level-one.avpack
              assetvault inspect level-one.avpack --keys file:vault.jwks --json
            """)

    @OptionGroup var pack: PackArgument
    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var source: OpenPack?
        if let provider = try keys.cachedProvider() { source = try await pack.read(with: provider) { $0 } }
        let file = if let source { source.pack } else { try await pack.file(nil) }
        PackDetails(name: pack.pack, file: file, opened: source).answer(asJSON: json)
    }
}
