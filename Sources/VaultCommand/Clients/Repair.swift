import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Repair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Read every byte of the packs in a store, and fetch damaged pieces again.",
        discussion: """
            Packs kept sealed are proven without a key, opened ones with theirs; what is damaged is fetched again by itself, \
            from any mirror, also when the site's metadata have expired. Packs that wait for their key are looked at by 'fetch'.

            EXAMPLE
              assetvault repair https://cdn.example.com/game --store ~/.game --keys env:GAME_KEY
            """)

    @OptionGroup var site: SiteOptions

    @Argument(help: ArgumentHelp("The packs to look at.", valueName: "id"))
    var ids: [String] = []

    @OptionGroup var store: StoreOptions

    @OptionGroup var keys: KeyOptions

    func run() async throws {
        let named = try ids.isEmpty ? nil : ids.map { id throws(VaultError) in try PackID(id) }
        var configuration = try site.configuration(of: store.existingLayout())
        configuration.keys = try keys.provider()
        let repaired = try await FetchProgress().whileShowing(configuration) { client throws(VaultError) in
            try await client.repair(named)
        }
        for id in repaired { Talk.note("repaired  \(id)") }
        if repaired.isEmpty {
            Talk.note(
                "no pack was damaged\(configuration.keys == nil ? "; opened ones are looked at with --keys only" : "")"
            )
        }
    }
}
