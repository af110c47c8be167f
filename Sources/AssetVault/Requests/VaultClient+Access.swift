import SealedPack
package import VaultErrors

/// What resource requests ask of their client.
extension VaultClient {
    /// How often packs may be removed by others before they are in access.
    private static let attempts = 3

    /// The same for a caller who waits for nothing else.
    package func access(to tags: Set<String>) async throws(VaultError) -> ResourceAccess {
        try await access(to: tags, in: work.makeBatch(.urgent), reportingTo: RequestDownloads())
    }

    /// Access to all packs of some tags; what is missing is downloaded.
    func access(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: RequestDownloads
    ) async throws(VaultError) -> ResourceAccess {
        defer { downloads.end() }
        let limit = configuration.policy.accessedSize
        let stored = try await store.storedPacks(with: tags, for: configuration.device)
        if let stored, stored.unknownTags.isEmpty,
            let access = try await store.grant(stored.packs, tags, within: limit)
        {
            return access
        }
        try await storeAccess.recovery.recover()
        var listing = try await currentListing()
        var selected = try await select(tags, in: listing)
        if !selected.unknownTags.isEmpty {
            // They may have been published since.
            try await refresh()
            listing = try await currentListing()
            selected = try await select(tags, in: listing)
        }
        try selected.requireKnownTags()
        // Before anything is downloaded for it.
        try store.requireRoom(for: selected.offers.map(\.pack), tags, within: limit)
        for attempt in 0..<Self.attempts {
            if attempt > 0 {
                // Another process may have staged and removed them by newer metadata than this client has read: then older ones decide
                // nothing.
                try await refresh()
                listing = try await currentListing()
                selected = try await select(tags, in: listing)
            }
            let missingKeys = try await stage(selected, listedBy: listing, in: batch, reportingTo: downloads)
            if let missingKey = missingKeys.first { throw missingKey }
            if let access = try await store.grant(selected.offers.map(\.pack), tags, within: limit) {
                return access
            }
        }
        throw VaultError(
            .busy, "other processes remove what it downloads", at: tags.sorted().joined(separator: ", "),
            remedy: "try again")
    }

    /// Access to the packs of some tags, if all are loaded.
    func localAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess? {
        try await store.access(
            to: tags, for: configuration.device, within: configuration.policy.accessedSize)
    }

    private func select(
        _ tags: Set<String>, in listing: SiteAccess.Listing
    ) async throws(VaultError) -> SelectedPacks {
        try await SelectedPacks(.tagged(tags), for: configuration.device, of: access, in: listing)
    }

    private func stage(
        _ selected: SelectedPacks, listedBy listing: SiteAccess.Listing, in batch: WorkQueue.Batch,
        reportingTo downloads: RequestDownloads
    ) async throws(VaultError) -> [VaultError] {
        let ids = selected.offers.map(\.pack.id)
        let missing = Set(try store.notLoaded(of: ids))
        downloads.begin(selected.offers.map(\.pack).filter { missing.contains($0.id) })
        let updates = statusUpdates
        async let reporting: Void = {
            for await update in updates { downloads.note(update) }
        }()
        let result = await outcome { () throws(VaultError) in
            try await self.stage(selected, listedBy: listing, in: batch, needsAll: true)
        }
        updates.end()
        await reporting
        return try result.get()
    }
}
