import SealedPack
import VaultErrors

extension PublishedPackFiles {
    /// What clients of earlier versions of a pack download. Versions that are not kept are left out.
    func updates(
        from earlier: [PackManifest], to pack: PackManifest
    ) async throws(VaultError) -> [PublicationReport.Update] {
        let file = try await file(of: pack)
        var updates: [PublicationReport.Update] = []
        for earlier in earlier where earlier.sha256 != pack.sha256 {
            do throws(VaultError) {
                let cost = try UpdateCost(of: file, reusing: [try await self.file(of: earlier)])
                updates.append(PublicationReport.Update(version: earlier.version, cost: cost))
            } catch {
                guard !error.isStorageFailure, !error.isCancellation else { throw error }
            }
        }
        return updates
    }
}
