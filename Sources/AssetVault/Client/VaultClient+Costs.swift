public import SealedPack
public import UpdateFramework
import VaultConcurrency
public import VaultErrors

/// What a fetch would download of one pack.
public struct DownloadCost: Sendable, Hashable {
    public let id: PackID
    /// The version that is offered.
    public let version: UInt64
    /// What a host must still send of it.
    public let cost: UpdateCost
}

extension VaultClient {
    /// What ``fetch(_:priority:within:now:)`` would download now, in the order in which it would begin. The trusted metadata are
    /// updated, and of each pack the index and the catalog are read; nothing else of the store changes.
    ///
    /// The pieces in the store count as sound, which a fetch verifies; and that a host does not support Range requests may show
    /// only later. ``PlanningPolicy/meteredAllowance`` does not count: this is what it may be raised by.
    ///
    /// - Parameter time: how long it may take; then `.busy` is thrown.
    /// - Throws: what a fetch throws; the first error when all packs were tried.
    public func costs(
        of selection: PackSelection = .automatic, within time: Duration? = nil, now: UTCTime = .now
    ) async throws(VaultError) -> [DownloadCost] {
        return try await store.naming { () throws(VaultError) in
            try await withTimeLimit(time, at: "fetch") { () throws(VaultError) in
                try await self.findCosts(of: selection, now: now)
            }
        }
    }

    private func findCosts(of selection: PackSelection, now: UTCTime) async throws(VaultError)
        -> [DownloadCost]
    {
        let view = try await updateListing(now: now)
        let selected = try await view.select(selection)
        try await note(selected, in: view)
        try selected.requireKnownTags()
        let stored = try await storeAccess.inventory.inspectedPacks(for: selected.offers, as: wantedForm)
        let keys = keysOfRun(for: selected.offers)
        let occasion = PlanningOccasion.app(selected.selection)
        let plan = Plan(await planInput(for: selected, on: occasion, with: stored, using: keys))
        let offers = selected.offers.byID
        var stager = stager(with: keys, within: newAllowance)
        // It says what the allowance may be raised by.
        stager.network = networkAccess
        var costs: [DownloadCost] = []
        var firstError = selected.refusals.first
        for download in plan.downloads {
            guard let offer = offers[download.pack.id] else { continue }
            do throws(VaultError) {
                guard let cost = try await stager.cost(of: offer) else { continue }
                costs.append(
                    DownloadCost(
                        id: store.shownID(of: offer.pack.id), version: offer.pack.version, cost: cost))
            } catch {
                if Task.isCancelled { throw error }
                firstError = firstError ?? error
            }
        }
        if let error = firstError ?? plan.refusals.first?.error { throw error }
        return costs
    }
}
