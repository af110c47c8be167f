import SealedPack
import UpdateFramework
import VaultSite

/// The targets that a vault itself lists.
struct OwnPacks {
    let packs: [ListedPack]
    /// Targets that are not packs, or not completely readable; they stay listed.
    let otherTargets: [TargetRecord]

    var records: [TargetRecord] { otherTargets + packs.map(\.target) }
    var packsByID: [PackID: ListedPack] {
        Dictionary(packs.map { ($0.pack.id, $0) }) { first, _ in first }
    }
    var hasOpaqueNames: Bool { PackNames.areNeeded(for: packs.map(\.target)) }

    init(of records: [TargetRecord]) {
        var packs: [ListedPack] = []
        var otherTargets: [TargetRecord] = []
        for record in records {
            // The content of a newer release is not changed.
            if let listing = try? ListedPack(record), listing.isComplete {
                packs.append(listing)
            } else {
                otherTargets.append(record)
            }
        }
        self.packs = packs
        self.otherTargets = otherTargets
    }

    /// The packs of a resource tree alone.
    func packs(of family: PackID) -> OwnPacks {
        OwnPacks(of: packs.filter { $0.pack.offer.family == family }.map(\.target))
    }
}
