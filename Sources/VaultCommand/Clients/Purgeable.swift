import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Purgeable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Let packs go away when room is needed.",
        discussion: """
            Packs stay until they are removed, but for these: when a download or an opening lacks room, they are removed, unless \
            somebody reads them. 'keep' takes it back.

            EXAMPLE
              assetvault purgeable levels/one --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The packs.", valueName: "id"), completion: .packsOfStore)
    var ids: [String]

    @OptionGroup var store: StoreOptions

    func run() async throws {
        for text in ids {
            try await store.naming([text]) { () throws(VaultError) in
                try await VaultStore(store.layout).declarePurgeable(PackID(text))
            }
            Talk.note("purgeable  \(text)")
        }
    }
}

struct Keep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep packs that were purgeable.",
        discussion: """
            EXAMPLE
              assetvault keep levels/one --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The packs.", valueName: "id"), completion: .packsOfStore)
    var ids: [String]

    @OptionGroup var store: StoreOptions

    func run() async throws {
        for text in ids {
            try await store.naming([text]) { () throws(VaultError) in
                try await VaultStore(store.layout).keep(PackID(text))
            }
            Talk.note("kept  \(text)")
        }
    }
}
