import SealedPack
import VaultErrors

extension StagingRun {
    /// Opens waiting packs, and those kept sealed where the opened form is wanted. Returns the packs that were loaded, and the
    /// first error when all were tried.
    ///
    /// - Parameters:
    ///   - ids: nil for all of them.
    ///   - left: one that was tried already.
    func unlock(
        _ ids: [PackID]?, except left: String? = nil
    ) async throws(VaultError) -> (loaded: [PackID], firstError: VaultError?) {
        let waiting = try stager.store.records.unopenedIDs(withSealed: !stager.isForm(.sealed))
            .filter { $0.description != left }
        let wanted = ids.map { ids in waiting.filter(ids.contains) } ?? waiting
        let outcomes = try await run(wanted.map { StagingTask(id: $0, offer: nil, needsKey: true) })
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

extension PackRecords {
    /// The packs that wait for their key, also those that an earlier attempt to open them did not complete.
    ///
    /// - Parameter withSealed: also those that are kept sealed.
    func unopenedIDs(withSealed: Bool) throws(VaultError) -> [PackID] {
        var found = Set(try waitingIDs())
        for id in try ids() {
            guard let record = try? record(of: id) else { continue }
            if record.waiting != nil || withSealed && record.loaded?.form == .sealed { found.insert(id) }
        }
        return found.sorted()
    }
}
