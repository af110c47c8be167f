import ArgumentParser
import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every byte of the packs in a store, without any network.",
        discussion: """
            Packs kept sealed are verified without a key, opened ones with theirs. Nothing is changed; 'repair' fetches what is \
            damaged. Exit code 65 says that a pack is damaged, 77 that the key of an opened one is missing.

            EXAMPLE
              assetvault verify --store ~/.game --keys env:GAME_KEY
            """)

    @Argument(help: ArgumentHelp("The packs to check.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let named = try ids.isEmpty ? nil : store.packs(ids)
        let reader = VaultStore(try store.existingLayout(), keys: try keys.cachedProvider())
        let found = try await store.suggestingNames(for: ids) { () throws(VaultError) in
            try await reader.verify(named)
        }
        let report = VerificationReport(packs: found)
        report.answer(asJSON: json)
        if !json, found.isEmpty { Console.note("no pack is loaded") }
        if let error = report.error { throw error }
    }
}
