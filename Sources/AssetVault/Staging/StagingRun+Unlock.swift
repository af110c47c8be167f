import SealedPack
import VaultErrors

extension StagingRun {
    /// Opens the packs that wait in shared storage; nil for all of them. Returns those that are loaded by that, and the
    /// first error when all were tried.
    func unlock(_ ids: [PackID]?) async throws(VaultError) -> (loaded: [PackID], firstError: VaultError?) {
        let waiting = try stager.staging.unopenedIDs()
        let wanted = ids.map { ids in waiting.filter(ids.contains) } ?? waiting
        var plan: [StagingTask] = []
        for id in wanted { plan.append(StagingTask(id: id, offer: nil)) }
        let outcomes = try await run(plan)
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

extension PackStaging {
    /// The packs that wait in shared storage, and those that an attempt to open them took from there without coming to
    /// its end.
    fileprivate func unopenedIDs() throws(VaultError) -> [PackID] {
        let inFiles = try records.waitingIDs()
        let inRecords = try records.ids().filter { (try? records.record(of: $0))?.waiting != nil }
        return Set(inFiles + inRecords).sorted()
    }
}
