import SealedPack
import VaultErrors

/// Listed packs of one content key: clients that have them take equal pieces from them.
struct RelatedPacks {
    /// The number of packs that are looked at for the pieces of one, versions of that pack among them: clients look at all, and may
    /// download less than is said.
    static let limit = 32

    fileprivate var files: [(id: PackID, file: PackFile)] = []
    /// Whether some of them are not kept.
    fileprivate(set) var isIncomplete = false

    /// Of all but one, by ID, as a client does.
    fileprivate func besides(_ id: PackID, atMost count: Int) -> [PackFile] {
        Array(files.lazy.filter { $0.id != id }.map(\.file).prefix(count))
    }
}

extension PublishedPackFiles {
    /// Opens the first of some packs. One that is not kept is left out.
    ///
    /// - Parameter packs: sorted by ID.
    func related(_ packs: [PackManifest]) async throws(VaultError) -> RelatedPacks {
        var related = RelatedPacks()
        // One of them may be that whose pieces are looked for.
        for pack in packs.prefix(RelatedPacks.limit + 1) {
            if let file = try await fileIfKept(of: pack) {
                related.files.append((pack.id, file))
            } else {
                related.isIncomplete = true
            }
        }
        return related
    }

    /// What clients of earlier versions of a pack download, which have other packs as well. Versions that are not kept are
    /// left out.
    func updates(
        from earlier: [PackManifest], to pack: PackManifest, beside related: RelatedPacks
    ) async throws(VaultError) -> [PublicationReport.Update] {
        let file = try await file(of: pack)
        let others = related.besides(pack.id, atMost: RelatedPacks.limit - 1)
        var updates: [PublicationReport.Update] = []
        for earlier in earlier where earlier.sha256 != pack.sha256 {
            guard let previous = try await fileIfKept(of: earlier),
                let cost = try cost(of: file, reusing: [previous] + others)
            else { continue }
            updates.append(PublicationReport.Update(version: earlier.version, cost: cost))
        }
        return updates
    }

    /// What clients download of a pack that they have no version of; nil where no other pack may have its pieces.
    func firstCost(of pack: PackManifest, beside related: RelatedPacks) async throws(VaultError)
        -> UpdateCost?
    {
        let others = related.besides(pack.id, atMost: RelatedPacks.limit)
        return others.isEmpty ? nil : try cost(of: try await file(of: pack), reusing: others)
    }

    private func cost(of file: PackFile, reusing sources: [PackFile]) throws(VaultError) -> UpdateCost? {
        do throws(VaultError) { return try UpdateCost(of: file, reusing: sources) } catch {
            guard !error.isStorageFailure, !error.isCancellation else { throw error }
            return nil
        }
    }

    private func fileIfKept(of pack: PackManifest) async throws(VaultError) -> PackFile? {
        do throws(VaultError) { return try await file(of: pack) } catch {
            guard !error.isStorageFailure, !error.isCancellation else { throw error }
            return nil
        }
    }
}
