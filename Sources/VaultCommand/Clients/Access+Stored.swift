import AssetVault
import SealedPack
import VaultErrors

/// Access to what the store has: no site is asked.
extension Access {
    func storedAccess() async throws(VaultError) -> ResourceAccess {
        let store = VaultStore(
            try store.existingLayout(), keys: try keys.cachedProvider(), trustedRoot: try trust.root(),
            channel: try view.listing.channel.channel, appVersion: try view.listing.version,
            device: try view.device)
        let (tags, limit) = (Set(tags), inUse?.bytes)
        if let access = try await store.access(to: tags, within: limit) { return access }
        let unloaded = try await store.unloadedPacks(with: tags)
        if let unloaded, !keys.specs.isEmpty, !unloaded.ids.isEmpty, unloaded.ids == unloaded.waiting {
            try await FetchProgress().whileShowing { show throws(VaultError) in
                _ = try await store.unlock(unloaded.waiting, onUpdate: show)
            }
            if let access = try await store.access(to: tags, within: limit) { return access }
        }
        throw notLoaded(unloaded?.ids ?? [], unloaded?.waiting ?? [], in: store)
    }

    /// - Parameter ids: empty where it is not known which packs are missing.
    private func notLoaded(_ ids: [PackID], _ waiting: [PackID], in store: VaultStore) -> VaultError {
        let missing = ids.filter { !waiting.contains($0) }
        var problem = "not all packs of the tags are loaded"
        if !missing.isEmpty {
            problem += ": missing \(missing.count == 1 ? "is" : "are") \(store.list(missing))"
        }
        var remedies = ["name the site with --site, or fetch them"]
        if !waiting.isEmpty {
            problem += "\(missing.isEmpty ? ": " : ", and ")only a key is missing for \(store.list(waiting))"
            remedies = (missing.isEmpty ? [] : remedies) + ["give --keys"]
        }
        return VaultError(
            .missing, problem, at: tags.joined(separator: ", "),
            remedy: remedies.joined(separator: "; for what waits "))
    }
}
