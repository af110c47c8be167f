public import SealedPack
public import VaultErrors

/// The packs of the site, and their state in the store.
extension VaultClient {
    /// All packs that the site lists, in the order of their IDs; the site is asked only the first time.
    public var packs: [PackManifest] {
        get async throws(VaultError) {
            let listing = try await currentListing()
            return try await SelectedPacks(.all, of: access, in: listing).offers.map(\.pack).sorted {
                $0.id < $1.id
            }
        }
    }

    /// Throws `.missing` for a pack that the site does not list.
    public func pack(withID id: PackID) async throws(VaultError) -> PackManifest {
        let listing = try await currentListing()
        return try await access.offer(of: id, in: listing).pack
    }

    /// The state of a pack in the store, whichever role staged it.
    public nonisolated func status(of id: PackID) async throws(VaultError) -> PackStatus {
        try await store.status(of: id)
    }

    /// Makes sure that a pack is ready for use.
    ///
    /// - Parameter requireLatest: asks the site for a newer version first; else any version that is loaded, or waits for a
    ///   key that is given, will do, and the network is not used.
    /// - Throws: `.key` when the pack was downloaded and its key is missing.
    public func ensureLocalAvailability(of id: PackID, requireLatest: Bool = false) async throws(VaultError) {
        try await ensureLocalAvailability(of: [id], requireLatest: requireLatest)
    }

    /// The same for several packs; all are tried before the first error is thrown.
    public func ensureLocalAvailability(of ids: [PackID], requireLatest: Bool = false)
        async throws(VaultError)
    {
        var missing = ids
        if !requireLatest {
            missing = try await stillMissing(afterUnlocking: store.notLoaded(of: ids))
        }
        guard !missing.isEmpty else { return }
        if requireLatest { try await refresh() } else { _ = try await currentListing() }
        if let missingKey = try await stage(.only(missing), in: work.makeBatch()).first { throw missingKey }
        if let id = try store.notLoaded(of: ids).first { throw Self.awaitingKey(id) }
    }

    /// Throws `.key` for the first pack that was downloaded, and that no earlier version stands in for until its key is there.
    func requireNoneAwaitsKey(of ids: [PackID]) async throws(VaultError) {
        guard configuration.keys == nil else { return }
        for id in try store.notLoaded(of: ids) where try await status(of: id).waitingVersion != nil {
            throw Self.awaitingKey(id)
        }
    }

    private static func awaitingKey(_ id: PackID) -> VaultError {
        VaultError(
            .key, "the pack is verified and waits for its key", at: id.description,
            remedy: "unlock it when the key is there")
    }

    /// Opens preloaded packs. The others are fetched from the site, which may list them for other keys by now.
    private func stillMissing(afterUnlocking ids: [PackID]) async throws(VaultError) -> [PackID] {
        var waiting: [PackID] = []
        for id in ids where try await status(of: id).waitingVersion != nil { waiting.append(id) }
        guard configuration.keys != nil, !waiting.isEmpty else { return ids }
        do throws(VaultError) { try await unlock(waiting) } catch {
            if Task.isCancelled { throw error }
        }
        return try store.notLoaded(of: ids)
    }

    /// Updates of the packs that are here.
    public struct Updates: Sendable, Hashable {
        /// Packs of which another version is listed than the one that is loaded or waits.
        public let updated: [PackID]
        /// Packs that are no longer listed; they stay until they are removed.
        public let withdrawn: [PackID]
    }

    /// Asks the site; only metadata are downloaded.
    public func checkForUpdates() async throws(VaultError) -> Updates {
        try await refresh()
        let offered = try await packs
        let digests = Dictionary(offered.map { ($0.id, $0.sha256) }, uniquingKeysWith: { first, _ in first })
        var updated: [PackID] = []
        var withdrawn: [PackID] = []
        for (id, record) in try await storeAccess.journal.states() {
            guard let present = record.waiting ?? record.loaded?.pack else { continue }
            switch digests[id] {
            case nil: withdrawn.append(id)
            case present.sha256?: break
            case .some: updated.append(id)
            }
        }
        return Updates(updated: updated, withdrawn: withdrawn)
    }

    func currentListing() async throws(VaultError) -> SiteAccess.Listing {
        if let listing { return listing }
        let listing = try await access.refresh(now: .now)
        self.listing = listing
        return listing
    }
}
