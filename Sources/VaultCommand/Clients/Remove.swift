import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove packs from a store.",
        discussion: """
            They come back only when 'fetch' names them, or with --all. A version that a program has in access, or reads, goes when \
            that ends.

            EXAMPLE
              assetvault remove levels/one --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The packs to remove.", valueName: "id"), completion: .packsOfStore)
    var ids: [String]

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print JSON: what was removed, and what the store holds afterwards, as 'status' does.")
    var json = false

    func run() async throws {
        let packs = try store.packs(ids)
        var lastError: VaultError?
        var removed: [PackID] = []
        for id in packs {
            do throws(VaultError) {
                try await store.suggestingNames(for: [id.description]) { () throws(VaultError) in
                    try await VaultStore(store.layout).remove(id)
                }
                removed.append(id)
                // A damaged state does not make a removal fail.
                let isHeld = (try? await VaultStore(store.layout).status(of: id))?.state == .removing
                Console.note(isHeld ? "removing  \(id): it goes once its access has ended" : "removed  \(id)")
            } catch {
                if let lastError { Console.error(lastError) }
                lastError = error
            }
        }
        if json {
            try await StatusReport(of: store.layout, changed: ("removed", removed)).answer(asJSON: true)
        }
        if let lastError { throw lastError }
    }
}
