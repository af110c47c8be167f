import SealedPack
import VaultErrors
import VaultSite

extension VaultClient {
    /// Brings the table of a channel with quiet names, and opens it where its key is here, unless the store has its names. Without
    /// the key it waits as any pack, and packs have the names that the store knows, if any; so it is where the table fails.
    ///
    /// - Parameter allowance: of the whole call.
    func openNames(
        of view: inout SiteView, within allowance: TransferAllowance
    ) async throws(VaultError) {
        guard let hasQuietNames = view.hasQuietNames else { return }
        try await view.checkNames()
        if view.missingNames != nil {
            do throws(VaultError) { try await bringNames(of: &view, within: allowance) } catch {
                guard error.concernsOnePack else { throw error }
                // The keys that are missing are known.
                if error.category != .key { view.missingNames = error.ofNames }
            }
        }
        // That of a pack whose name is missing for it may come first.
        if let failure = view.missingNames, failure.category != .key {
            observer(.failed(try PackID(PackNames.packID), failure))
        }
        try await store.followNames(
            of: view.siteChain, areQuiet: hasQuietNames, areKnown: view.missingNames == nil)
    }

    private func bringNames(
        of view: inout SiteView, within allowance: TransferAllowance
    ) async throws(VaultError) {
        guard let table = try await view.namesTable() else { return }
        let keys = keysOfRun(for: [table])
        let stager = stager(with: keys, within: allowance)
        do throws(VaultError) {
            guard try await stager.stage(table) == .loaded, let names = try await store.adoptNames(with: keys)
            else { return }
            try await view.follow(names)
        } catch {
            await stager.recordFailure(error, of: StagingTask(id: table.pack.id, offer: table))
            throw error
        }
    }
}
