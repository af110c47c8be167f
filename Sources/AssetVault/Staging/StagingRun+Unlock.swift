import SealedPack
import VaultErrors

extension StagingRun {
    /// Opens packs that are not (``PackStager/unopenedIDs(among:)``). Returns those that were loaded, and the first error when all were
    /// tried.
    func unlock(
        _ ids: [PackID]
    ) async throws(VaultError) -> (loaded: [PackID], firstError: VaultError?) {
        let outcomes = try await run(ids.map { StagingTask(id: $0, offer: nil, needsKey: true) })
        var loaded: [PackID] = []
        var firstError: VaultError?
        for outcome in outcomes {
            switch outcome.result {
            case .success(.loaded): loaded.append(outcome.id)
            case .success: break
            case .failure(let error): firstError = firstError ?? error
            }
        }
        return (loaded, firstError)
    }
}

extension PackStager {
    /// The packs that wait for their key, also those that an earlier attempt to open them did not complete, and those kept sealed where
    /// the opened form is wanted.
    ///
    /// Others may have put any number of folders into shared storage: of those that were not named, only listed packs count.
    func unopenedIDs(among ids: [PackID]?) async throws(VaultError) -> [PackID] {
        let records = store.records
        let isOpeningSealed = !isForm(.sealed)
        var found: Set<PackID> = []
        for id in try records.ids() {
            guard let record = try? records.record(of: id) else { continue }
            if record.waiting != nil || isOpeningSealed && record.loaded?.form == .sealed { found.insert(id) }
        }
        let others = try records.waitingIDs().filter { !found.contains($0) }
        if let ids {
            found.formUnion(others)
            return ids.filter(found.contains)
        }
        guard let storedView else {
            // None of them can be opened, for one reason: a few are enough to report it.
            return found.union(others.prefix(64)).sorted()
        }
        for id in others {
            if Task.isCancelled { throw VaultError.cancelled("unlock") }
            if try await storedView.pack(listedAs: id) != nil { found.insert(id) }
        }
        return found.sorted()
    }
}
