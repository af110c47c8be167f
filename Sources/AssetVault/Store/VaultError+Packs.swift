import SealedPack
import VaultErrors

/// Errors of single packs, and what they mean for the work on others.
extension VaultError {
    static func takenByAnotherProcess(_ id: PackID, in layout: StoreLayout) -> VaultError {
        VaultError(
            .busy, "another process continued with the pack '\(id)'", at: layout.shared.string,
            remedy: "try again")
    }

    static func removedMeanwhile(_ id: PackID) -> VaultError {
        VaultError(
            .missing, "the pack was removed meanwhile", at: id.description,
            remedy: "ask for it again if it is wanted")
    }

    /// Whether work on other packs continues: the store is not busy, and nothing was cancelled.
    var concernsOnePack: Bool { category != .busy && !Task.isCancelled }

    /// Whether a file is missing or its bytes are not what they were. Disks report unreadable sectors as `.io`.
    var isDamage: Bool { [.corrupt, .missing, .io].contains(category) && !Task.isCancelled }
}
