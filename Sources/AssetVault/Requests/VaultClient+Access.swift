import SealedPack
package import VaultErrors

/// What resource requests ask of their client.
extension VaultClient {
    /// Access to all packs of some tags for a caller who waits for nothing else, and links the files: nothing is downloaded where a
    /// pack is kept sealed.
    package func linkableAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess {
        try await access(
            to: tags, in: work.makeBatch(.urgent), reportingTo: RequestDownloads(), isForLinks: true)
    }

    /// Access to all packs of some tags; what is missing is downloaded.
    func access(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: RequestDownloads,
        isForLinks: Bool = false
    ) async throws(VaultError) -> ResourceAccess {
        try await store.naming { () throws(VaultError) in
            try await batch.whileWanted(at: tags.sorted().joined(separator: ", ")) { () throws(VaultError) in
                try await self.accessWhileWanted(
                    to: tags, in: batch, reportingTo: downloads, isForLinks: isForLinks)
            }
        }
    }

    private func accessWhileWanted(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: RequestDownloads,
        isForLinks: Bool
    ) async throws(VaultError) -> ResourceAccess {
        let limit = configuration.policy.accessedSize
        let stored = try await storedPacks(with: tags)
        if let stored, stored.unknownTags.isEmpty,
            let access = try await store.grant(stored.offers.map(\.pack), tags, within: limit)
        {
            return access
        }
        try await storeAccess.recovery.recover()
        do throws(VaultError) {
            return try await accessByNewestListing(
                to: tags, in: batch, reportingTo: downloads, isForLinks: isForLinks)
        } catch {
            // Without the host what is loaded stays open.
            guard error.isHostFailure, !Task.isCancelled,
                let access = try? await localAccess(to: tags)
            else { throw error }
            return access
        }
    }

    private func accessByNewestListing(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: RequestDownloads,
        isForLinks: Bool
    ) async throws(VaultError) -> ResourceAccess {
        let limit = configuration.policy.accessedSize
        let allowance = newAllowance
        return try await byNewestListing(for: tags.sorted().joined(separator: ", "), within: allowance) {
            view, isNew throws(VaultError) in
            let selected = try await view.select(.tagged(tags))
            // They may have been published since.
            if !selected.unknownTags.isEmpty, !isNew { return nil }
            try await note(selected, in: view)
            if let unreadable = selected.unreadable { throw unreadable }
            try selected.requireKnownTags()
            // Before anything is downloaded.
            if isForLinks { try store.requireOpened(selected.offers.map(\.pack.id)) }
            try store.requireRoom(for: selected.offers.map(\.pack), tags, within: limit)
            do throws(VaultError) {
                let awaitingKey = try await stage(
                    selected, listedBy: view, in: batch, within: allowance, reportingTo: downloads)
                if let locked = awaitingKey.first(where: \.isLocked) { throw locked.error }
            } catch {
                // Another process removed or purged one while it was staged. Here it is still wanted.
                guard error.category == .missing, selected.offers.contains(where: { isRemoved($0.pack.id) })
                else { throw error }
                return nil
            }
            try await requireNoneAwaitsKey(of: selected.offers.map(\.pack.id))
            return try await store.grant(selected.offers.map(\.pack), tags, within: limit)
        }
    }

    private func isRemoved(_ id: PackID) -> Bool {
        (try? storeAccess.records.record(of: id).isRemoved) ?? false
    }

    /// The packs of the tags according to the metadata that were verified last. Where this release can't read them all, newer ones are asked for.
    private func storedPacks(with tags: Set<String>) async throws(VaultError) -> SelectedPacks? {
        let packs = try await store.storedPacks(with: tags)
        guard let unreadable = packs?.unreadable else { return packs }
        try await storeAccess.recovery.recover()
        do throws(VaultError) { try await updateListing() } catch {
            throw Task.isCancelled ? error : unreadable
        }
        return nil
    }

    /// Access to the packs of some tags, if all are loaded.
    func localAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess? {
        try await store.access(to: tags, within: configuration.policy.accessedSize)
    }

    private func stage(
        _ selected: SelectedPacks, listedBy view: SiteView, in batch: WorkQueue.Batch,
        within allowance: TransferAllowance, reportingTo downloads: RequestDownloads
    ) async throws(VaultError) -> [PackAwaitingKey] {
        let ids = selected.offers.map(\.pack.id)
        let missing = Set(try store.notLoaded(of: ids))
        downloads.plan(selected.offers.map(\.pack).filter { missing.contains($0.id) }.map(store.shown))
        let updates = statusUpdates
        async let reporting: Void = {
            for await update in updates { downloads.note(update) }
        }()
        let result = await outcome { () throws(VaultError) in
            try await self.stage(selected, listedBy: view, in: batch, within: allowance, needsAll: true)
        }
        updates.end()
        await reporting
        return try result.get()
    }
}
