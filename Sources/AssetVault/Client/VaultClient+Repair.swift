public import SealedPack
public import VaultBase

extension VaultClient {
    /// Reads every byte of the packs that are loaded, and fetches what is damaged again, piece by piece. If the site now lists
    /// another version, fetches that one instead. If the site's metadata can't be fetched or verified, or has expired,
    /// downloaded pieces are checked against the digests recorded when the pack was staged.
    ///
    /// An opened pack can be verified only with its key: where that is not here, ``StatusUpdate/awaitingKey(_:_:)`` says so.
    ///
    /// - Parameter ids: the packs to look at; nil for all.
    /// - Returns: the packs that were damaged, and are sound again.
    /// - Throws: the first error, after all were tried; `.missing` for a pack of `ids` that is not loaded, and for one
    ///   that was kept sealed and is gone; `.key` for a pack of `ids` that could not be verified.
    @discardableResult
    public func repair(_ ids: [PackID]? = nil) async throws(VaultError) -> [PackID] {
        let present = ids?.map(store.presentID)
        return try await store.naming { () throws(VaultError) in
            try await self.repair(present: present).map(store.shownID)
        }
    }

    private func repair(present ids: [PackID]?) async throws(VaultError) -> [PackID] {
        for id in ids ?? [] { try storeAccess.records.requireKnown(id) }
        try await storeAccess.recovery.recover()
        let workMark = try storeAccess.unfinishedWork.begin()
        defer { withExtendedLifetime(workMark) {} }
        let known = if let ids { ids } else { try storeAccess.records.ids() }
        var repaired: [PackID] = []
        var firstError: VaultError?
        var missingKey: VaultError?
        let stager = stager(with: await store.keysOfRun(for: known), within: newAllowance)
        await stager.announceVerification(of: known)
        for id in known {
            do throws(VaultError) {
                if try await repairIfDamaged(id, by: stager) {
                    repaired.append(id)
                } else if ids != nil, try await storeAccess.journal.state(of: id).loaded == nil {
                    throw goneError(id)
                }
            } catch {
                if error.category == .key {
                    observer(.awaitingKey(id, error))
                    missingKey = missingKey ?? error
                } else {
                    observer(.failed(id, error))
                    firstError = firstError ?? error
                }
            }
        }
        if let error = firstError ?? (ids == nil ? nil : missingKey) { throw error }
        if let view { try await follow(view) }
        return repaired
    }

    /// Whether the pack was damaged; then it is sound again.
    private func repairIfDamaged(_ id: PackID, by stager: PackStager) async throws(VaultError) -> Bool {
        let manifestWasRepaired = try await storeAccess.repairManifest(of: id)
        let record = try await storeAccess.journal.state(of: id)
        if record.isLost { throw goneError(id) }
        guard let loaded = record.loaded, let damage = try await stager.damage(to: loaded) else {
            return manifestWasRepaired
        }
        // Nothing rests on it from now on.
        VaultStore.noteDamage(
            of: storeAccess.layout.version(loaded.pack, as: loaded.form), metBy: damage)
        let offer = try await offer(toRepair: loaded, recorded: record)
        guard offer.pack.sha256 == loaded.pack.sha256 else {
            // The site may list it under another ID by now.
            let listed = offer.pack.id
            try await store.continueDecisions(on: [listed])
            let others = try await currentView().updates(
                belongingTo: [offer.pack], in: storeAccess.records)
            let changes = ([offer] + others).map {
                PlannedSet.Change(pack: $0.pack, isUpdate: true, comesNow: true)
            }
            var stager = stager
            stager.sets = PackSets(PlannedSet.sets(of: changes, areTogether: false))
            // Not requested by the app: a pack that is removed meanwhile stays removed.
            let run = StagingRun(stager: stager, batch: work.makeBatch())
            let tasks = ([offer] + others).map { StagingTask(id: $0.pack.id, offer: $0) }
            for outcome in try await run.run(tasks) {
                _ = try outcome.result.get()
            }
            let present = try await storeAccess.journal.state(of: listed).loaded?.pack.sha256
            guard present == offer.pack.sha256 else {
                throw VaultError(
                    .key, "version \(offer.pack.version) waits for its key; the damaged one stays until then",
                    at: id.description, remedy: "fetch it with its key")
            }
            try? await store.removeSuperseded(by: [listed])
            return true
        }
        guard try await stager.repair(offer, as: loaded.form) else { return manifestWasRepaired }
        observer(.finished(id, .loaded))
        return true
    }

    /// The pack as the site lists it now; else as it was listed when it was staged.
    private func offer(toRepair loaded: PackRecord.Loaded, recorded record: PackRecord)
        async throws(VaultError) -> LocatedPack
    {
        let view: SiteView
        do throws(VaultError) { view = try await currentView() } catch {
            guard error.category == .untrusted || error.isHostFailure else { throw error }
            return try site.locate(recorded: loaded.pack, listedBy: record.listing)
        }
        return try await view.pack(withID: store.listedID(of: loaded.pack.id))
    }

    private func goneError(_ id: PackID) -> VaultError {
        VaultError(.missing, "no version of it is there", at: id.description, remedy: "fetch it")
    }
}

extension PackRecord {
    /// Whether it was kept sealed, and no file of it is left.
    fileprivate var isLost: Bool {
        chosenForm == .sealed && wasListed && loaded == nil && waiting == nil
            && arriving == nil
            && !isRemoved
    }
}

extension StoreAccess {
    /// Writes the manifest beside the live version again where it is damaged; true where it was.
    fileprivate func repairManifest(of id: PackID) async throws(VaultError) -> Bool {
        try await withLock { () throws(VaultError) in
            guard let loaded = try journal.reconciled(try records.readableRecord(of: id), of: id).loaded
            else {
                return false
            }
            return try VersionFolder(of: id, in: layout)?.repairManifest(of: loaded) ?? false
        }
    }
}
