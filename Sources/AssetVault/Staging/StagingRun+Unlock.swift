import SealedPack
import VaultErrors

extension StagingRun {
    /// Opens the packs that wait in shared storage; nil for all of them. Returns those that are loaded by that, and the
    /// first error when all were tried.
    func unlock(_ ids: [PackID]?) async throws(VaultError) -> (loaded: [PackID], firstError: VaultError?) {
        let waiting = try stager.staging.records.waitingIDs()
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
