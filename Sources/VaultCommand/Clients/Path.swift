import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import VaultErrors

struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the stable path of a loaded pack.",
        discussion: """
            The path is a link to the pack's live version: a folder, or the sealed pack after 'fetch --sealed'.

            EXAMPLE
              ls "$(assetvault path levels/one --store ~/.game)"
            """)

    @Argument(help: ArgumentHelp("The pack's ID.", valueName: "id"))
    var id: String

    @OptionGroup var store: StoreOptions

    func run() async throws {
        Talk.answer(try VaultStore(store.layout).path(of: PackID(id)).string)
    }
}
