import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Repair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Look at every byte of packs kept sealed, and fetch damaged pieces again.",
        discussion: """
            Packs that 'fetch --sealed' brought are proven without a key; what is damaged is fetched again by itself, from any \
            mirror. Packs that wait for their key are looked at by 'fetch'.

            EXAMPLE
              assetvault repair https://cdn.example.com/game --store ~/.game
            """)

    @OptionGroup var site: SiteOptions

    @Argument(help: ArgumentHelp("The packs to look at.", valueName: "id"))
    var ids: [String] = []

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let named = try ids.isEmpty ? nil : ids.map { id throws(VaultError) in try PackID(id) }
        let mended = try await FetchProgress().whileShowing(
            try site.configuration(of: store.existingLayout())
        ) {
            client throws(VaultError) in try await client.repair(named)
        }
        for id in mended { Talk.note("mended  \(id)") }
        if mended.isEmpty {
            Talk.note("no pack that is kept sealed was damaged; opened ones are not looked at")
        }
    }
}
