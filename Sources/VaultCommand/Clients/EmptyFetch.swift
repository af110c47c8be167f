import AssetVault
import VaultErrors

/// Explains why a fetch found no pack to fetch.
enum EmptyFetch {
    static func explain(of layout: StoreLayout) async throws(VaultError) {
        let packs = try await VaultStore(layout).status().filter(\.isRemoved)
        guard !packs.isEmpty else {
            return Console.note(
                "nothing to fetch: the site lists no essential or prefetch pack; for all others: "
                    + GivenCommand.line(adding: ["--all"]))
        }
        let ids = packs.map(\.id.description)
        let named =
            ids.count > 8
            ? "\(ids.prefix(8).joined(separator: ", ")) and \(ids.count - 8) more"
            : ids.joined(separator: ", ")
        Console.note(
            "nothing to fetch: packs were removed from this store (\(named)) and come back when they are named; for all: "
                + GivenCommand.line(adding: ["--all"]))
    }
}
