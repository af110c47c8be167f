import SealedPack
import VaultErrors
import VaultSite

/// What a publication costs clients.
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
                    report[index].lacksCost = related.isIncomplete
                } else {
                    report[index].updates = try await publisher.files.updates(
                        from: latest[pack.id] ?? [], to: pack, beside: related)
                    let listed = earlier.listed[pack.id]?.pack.version
                    report[index].lacksCost = !report[index].updates.contains { $0.version == listed }
                }
            }
        }
    }
}
