import SealedPack
import VaultBytes
import VaultErrors

/// What is done for selected packs.
extension VaultClient {
    /// The error of each pack that none of the keys opens, of those that would be downloaded without being asked for. Other packs come
    /// or stay whatever keys are here, so that the provider is not asked for theirs: anybody whose packs are listed may name any keys.
    func missingKeys(
        for selected: SelectedPacks, on occasion: PlanningOccasion, with stored: [StoredPack],
        using keys: (any KeyProvider)?
    ) async -> [PackID: VaultError] {
        guard let keys, !occasion.isRequest, !configuration.policy.preloadsLockedPacks else { return [:] }
        let plan = plan(for: selected, on: occasion, with: stored, missing: [:], within: nil)
        var missing: [PackID: VaultError] = [:]
        var matches = await KeyMatches(keys)
        for pack in plan.downloads.map(\.pack) + plan.refusals.map(\.pack) {
            missing[pack.id] = await matches.missingKey(of: pack)
        }
        return missing
    }

    /// - Parameters:
    ///   - missing: the packs whose key is missing.
    ///   - allowance: bytes that may come over a metered network.
    ///   - costs: bytes that must come of a pack; all of it where that is not known.
    func plan(
        for selected: SelectedPacks, on occasion: PlanningOccasion, with stored: [StoredPack],
        missing: [PackID: VaultError], within allowance: UInt64?, costing costs: [PackID: UInt64] = [:]
    ) -> Plan {
        var policy = configuration.policy
        policy.meteredAllowance = allowance
        return Plan(
            stored: stored, offered: selected.offers.map(\.pack), occasion: occasion, policy: policy,
            locked: Set(missing.keys), replaced: selected.replacedIDs, sources: configuration.locations,
            network: work.network, costs: costs)
    }

    /// The plan, within what may come over a metered network. Where whole packs would exceed that, the hosts are asked for their
    /// indexes: of an update little may be missing.
    func affordablePlan(
        for selected: SelectedPacks, on occasion: PlanningOccasion, with stored: [StoredPack],
        missing: [PackID: VaultError], by stager: PackStager
    ) async throws(VaultError) -> Plan {
        let plan = plan(for: selected, on: occasion, with: stored, missing: missing, within: nil)
        guard let allowance = stager.network.allowance.left, work.network == .metered,
            plan.downloads.saturatingSum(\.pack.length) > allowance
        else { return plan }
        let offers = selected.offers.byID
        var costs: [PackID: UInt64] = [:]
        // Asking costs as well: no more than may come at all.
        var left = allowance
        var begun: [PackManifest] = []
        for offer in plan.downloads.compactMap({ offers[$0.pack.id] }) where offer.pack.tailLength <= left {
            left -= offer.pack.tailLength
            do throws(VaultError) {
                let file = DownloadFile(layout: storeAccess.layout, pack: offer.pack)
                if case nil = try file.arrival() { begun.append(offer.pack) }
                costs[offer.pack.id] = try await stager.costOfBeginning(offer)?.bytes ?? 0
            } catch {
                // Its download says what is wrong; until then all of it counts.
                if Task.isCancelled || error.category == .unreachable { throw error }
            }
        }
        let affordable = self.plan(
            for: selected, on: occasion, with: stored, missing: missing, within: allowance, costing: costs)
        let admitted = Set(affordable.downloads.map(\.pack.id))
        // What is refused leaves nothing.
        for pack in begun where !admitted.contains(pack.id) {
            try? storeAccess.removal.discardDownload(of: pack)
        }
        return affordable
    }
}
