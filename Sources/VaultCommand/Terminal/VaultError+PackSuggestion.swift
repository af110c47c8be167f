import SealedPack
import VaultErrors

extension VaultError {
    /// With the pack that a mistyped ID probably means: the ID that the error is about is compared with those that exist.
    func suggesting(
        for ids: [String], among known: () async throws(VaultError) -> [PackID]
    ) async -> VaultError {
        guard category == .missing,
            let id = ids.first(where: { $0 == place }) ?? (ids.count == 1 ? ids.first : nil),
            let packs = try? await known()
        else { return self }
        return suggesting(id, among: packs.map(\.description))
    }
}
