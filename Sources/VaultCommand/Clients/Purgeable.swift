import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Purgeable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Allow packs to be removed when disk space is needed.",
        discussion: """
            Packs stay until they are removed, but for these: when a download or an opening needs disk space, they are removed, unless \
            somebody reads them. 'keep' takes it back.

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

struct Keep: AsyncParsableCommand {
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

/// Packs of a store, by name.
struct NamedPacks: ParsableArguments {
    @Argument(help: ArgumentHelp("The packs.", valueName: "id"), completion: .packsOfStore)
    var ids: [String]

    @OptionGroup var store: StoreOptions

    /// Runs an operation for each, and prints one word for it.
    func each(
        _ done: String, _ work: (VaultStore, PackID) async throws(VaultError) -> Void
    ) async throws(VaultError) {
        for text in ids {
            try await store.naming([text]) { () throws(VaultError) in
                try await work(VaultStore(store.layout), store.packs([text])[0])
            }
            Console.note("\(done)  \(text)")
        }
    }
}
