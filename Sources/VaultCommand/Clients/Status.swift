import ArgumentParser
import AssetVault
import SealedPack
import StrictJSON
import VaultTransport

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which packs a store has, and in which state.",
        discussion: """
            EXAMPLE
              assetvault status --store ~/.game --json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let report = try await StatusReport(of: store.existingOrEmptyLayout())
        if !json, report.packs.isEmpty { Console.note("no pack was staged in \(store.store) yet") }
        report.answer(asJSON: json)
    }
}
