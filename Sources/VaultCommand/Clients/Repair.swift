import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Repair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Read every byte of the packs in a store, and fetch damaged pieces again.",
        discussion: """
            Packs kept sealed are verified without a key, opened ones with theirs; what is damaged is fetched again by itself, \
            from any mirror, also when the site's metadata have expired. Packs that wait for their key are looked at by 'fetch'.

            EXAMPLE
              assetvault repair https://cdn.example.com/game --store ~/.game \\
                --keys env:GAME_KEY
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The packs to check.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON: what was repaired, and what the store holds afterwards, as 'status' does.")
    var json = false

    func run() async throws {
        let named = try ids.isEmpty ? nil : store.packs(ids)
        var configuration = try client.configuration(of: store.existingLayout())
        configuration.keys = try keys.cachedProvider()
        let progress = FetchProgress()
        let result = await outcome { () throws(VaultError) in
            try await store.suggestingNames(for: ids) { [configuration] () throws(VaultError) in
                try await progress.whileShowing(configuration) { client throws(VaultError) in
                    try await client.requireKnownTraits()
                    return try await client.repair(named)
                }
            }
        }
        if json {
            let repaired = (try? result.get()) ?? progress.loaded
            try await StatusReport(of: store.layout, changed: ("repaired", repaired)).answer(asJSON: true)
        }
        let repaired = try result.get()
        for id in repaired { Console.note("repaired  \(id)") }
        for (id, error) in progress.locked {
            Console.note("not verified  \(id): \(error.problem); give its key with --keys")
        }
        if repaired.isEmpty { Console.note("no damage was found") }
    }
}
