import SealedPack

@testable import AssetVault

extension StoreLayout {
    /// The packs that the app could remove now, in the order in which they go.
    func purgeablePacks() throws -> [PurgeablePack] {
        try DiskSpace(store: StoreAccess(layout: self, role: .app)).purgeablePacks(
            by: PreservationPriorities(of: self), on: permanent)
    }

    /// Their names, below `game` if they are of that tree.
    func purgeOrder() throws -> [String] {
        try purgeablePacks().map { $0.id.description.replacing("game/", with: "") }
    }
}
