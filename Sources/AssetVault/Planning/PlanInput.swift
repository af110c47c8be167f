import SealedPack
import VaultBase
import VaultCrypto
import VaultTransport

/// The input of a plan, for fetches, requests, cost estimates and downloaders: the offered packs, the content of the store, and the
/// limits.
struct PlanInput: Sendable {
    /// What the store has; of one pack only the first entry counts.
    var stored: [StoredPack]
    /// What the site lists by verified metadata, in the order in which it is wanted. If the app names packs, only these are needed:
    /// all others do not change.
    var offered: [PackManifest]
    var trigger: PlanTrigger
    var policy = PlanningPolicy()
    /// Why no key opens a pack that would be downloaded without being asked for.
    var missingKeys: [PackID: VaultError] = [:]
    /// Stored packs that count for no limit, since another variant of them is offered.
    var replaced: Set<PackID> = []
    /// Where packs can be downloaded from.
    var sources: [SiteLocation]
    /// What may be used of the network.
    var network = NetworkPolicy.unrestricted
    /// Bytes that must come of a pack; all of it where that is not known.
    var costs: [PackID: UInt64] = [:]
    /// What was downloaded to know what is offered.
    var metadataBytes: UInt64 = 0
}

extension PlanInput {
    /// The metered allowance is not applied yet; see ``PackStager/affordablePlan(of:for:)``.
    init(
        _ selected: SelectedPacks, on trigger: PlanTrigger, with stored: [StoredPack],
        _ configuration: VaultConfiguration
    ) {
        self.init(
            stored: stored, offered: selected.offers.map(\.pack), trigger: trigger,
            policy: configuration.policy, replaced: selected.replacedIDs, sources: configuration.locations)
        policy.meteredAllowance = nil
    }

    /// Finds the packs that none of the keys opens, of those that would be downloaded without being asked for. The provider is not
    /// asked for the keys of other packs, because these do not depend on the keys, and the publisher of a listed pack may name any
    /// keys.
    mutating func findMissingKeys(with keys: (any KeyProvider)?) async {
        guard let keys, !trigger.isRequest, !policy.preloadsLockedPacks else { return }
        let plan = Plan(self)
        var matches = await KeyMatches(keys)
        for pack in plan.downloads.map(\.pack) + plan.refusals.map(\.pack) where !pack.offer.isHeld {
            missingKeys[pack.id] = await matches.missingKey(of: pack)
        }
    }
}
