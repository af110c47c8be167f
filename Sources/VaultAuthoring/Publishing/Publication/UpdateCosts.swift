import SealedPack
import VaultBase
import VaultSite

/// The downloads that a publication causes for clients.
struct ChangedPacks {
    /// Limits of the cost report: versions of a pack, and packs.
    static let (versions, packLimit) = (3, 1000)

    /// Packs with other content than was published, and new ones whose pieces other packs may have; the first of them.
    private(set) var packs: [PackID: PackManifest] = [:]
    /// How many more there are.
    private(set) var uncounted = 0

    mutating func note(_ pack: PackManifest, after earlier: EarlierPacks) {
        if let published = earlier.listed[pack.id]?.pack {
            guard published.sha256 != pack.sha256 else { return }
        } else {
            guard earlier.hasPacks(sharing: pack.contentKeyID) else { return }
        }
        if packs.count < Self.packLimit { packs[pack.id] = pack } else { uncounted += 1 }
    }
}

extension ChangedPacks {
    /// Adds the costs to a report.
    func addCosts(
        to report: inout [PublicationReport.Pack], after earlier: EarlierPacks, by publisher: PackPublisher
    ) async throws(VaultError) {
        guard !packs.isEmpty else { return }
        let ids = Set(packs.keys)
        try await publisher.files.host?.readHistory(of: ids)
        let latest = try earlier.history.latest(Self.versions, of: ids)
        let positions = Dictionary(grouping: report.indices) { packs[report[$0].id]?.contentKeyID }
        for (key, positions) in positions {
            guard let key else { continue }
            // Of one family at a time, since each takes a file descriptor.
            let related = try await publisher.files.related(earlier.packs(sharing: key))
            for index in positions {
                guard let pack = packs[report[index].id] else { continue }
                if report[index].change == .added {
                    report[index].firstCost = try await publisher.files.firstCost(of: pack, beside: related)
                    report[index].isCostUnknown = related.isIncomplete
                } else {
                    report[index].updates = try await publisher.files.updates(
                        from: latest[pack.id] ?? [], to: pack, beside: related)
                    let listed = earlier.listed[pack.id]?.pack.version
                    report[index].isCostUnknown = !report[index].updates.contains { $0.version == listed }
                }
            }
        }
    }
}

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
        // One of them may be the pack whose pieces are looked for.
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
