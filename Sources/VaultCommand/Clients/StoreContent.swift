import ArgumentParser
import AssetVault
import SealedPack
import VaultBase

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
        if !json, report.packs.isEmpty { Console.note("the store \(store.store) has no packs yet") }
        report.answer(asJSON: json)
    }
}

struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the stable path of a loaded pack.",
        discussion: """
            The path is a link to the pack's live version: a folder, or the sealed pack after 'fetch \
            --sealed'.

            EXAMPLE
              ls "$(assetvault path levels/one --store ~/.game)"
            """)

    @Argument(help: ArgumentHelp("The pack's ID.", valueName: "id"), completion: .packsOfStore)
    var id: String

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let id = try PackID(id)
        let vaultStore = VaultStore(try store.existingOrEmptyLayout())
        let path = try await store.suggestingNames(for: [self.id]) { () throws(VaultError) in
            try vaultStore.path(of: id)
        }
        // For other programs: as it is, whatever the store's folder is called.
        Console.answer(bytes: Array("\(path.string)\n".utf8))
    }
}
