import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct PurgeableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Allow packs to be removed when disk space is needed.",
        discussion: """
            Marks packs as removable: when a download needs disk space, they are deleted unless in use. 'keep' revokes that.

            EXAMPLE
              assetvault purgeable levels/one --store ~/.game
            """)

    @OptionGroup var packs: NamedPacks

    func run() async throws {
        try await packs.each("purgeable") { store, id throws(VaultError) in
            try await store.declarePurgeable(id)
        }
    }
}
