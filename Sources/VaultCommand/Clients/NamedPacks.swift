import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

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
            try await store.suggestingNames(for: [text]) { () throws(VaultError) in
                try await work(VaultStore(store.layout), store.packs([text])[0])
            }
            Console.note("\(done)  \(text)")
        }
    }
}
