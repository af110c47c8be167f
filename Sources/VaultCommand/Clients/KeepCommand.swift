import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct KeepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep packs that were purgeable.",
        discussion: """
            EXAMPLE
              assetvault keep levels/one --store ~/.game
            """)

    @OptionGroup var packs: NamedPacks

    func run() async throws {
        try await packs.each("kept") { store, id throws(VaultError) in try await store.keep(id) }
    }
}
