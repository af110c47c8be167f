import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take packs out of a store.",
        discussion: """
            They come back only when 'fetch' names them, or with --all. A version that somebody reads goes away when it is free.

            EXAMPLE
              assetvault remove levels/one --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The packs to remove.", valueName: "id"))
    var ids: [String]

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let packs = try ids.map { id throws(VaultError) in try PackID(id) }
        var lastError: VaultError?
        for id in packs {
            do throws(VaultError) {
                try await VaultStore(store.layout).remove(id)
                Talk.note("removed  \(id)")
            } catch {
                if let lastError { Talk.error(lastError) }
                lastError = error
            }
        }
        if let lastError { throw lastError }
    }
}
