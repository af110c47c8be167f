import SealedPack
import VaultErrors
import VaultSite

/// How long the packs of each tag stay according to the site. The site's own packs decide, if any has the tag; else those of the
/// first team that has it. Of these the lowest counts: the tag as a whole should not outlast what its publisher keeps least.
struct ListedPreservation {
    private var byTag: [String: (rank: Int, priority: Double)] = [:]

    init() {}

    /// Where a role is missing, such as one that the host withholds, its packs could come before those of a team: then the last
    /// complete listing counts, and without one the site's own packs alone.
    init(of site: StoredSite) async throws(VaultError) {
        guard let view = try await site.view() else { return }
        let (packs, areComplete) = try await view.allPacks()
        let complete =
            try await areComplete
            ? packs
            : site.firstEarlier(before: view) { view throws(VaultError) in
                let (packs, areComplete) = try await view.allPacks()
                return areComplete ? packs : nil
            }
        self.init(of: complete ?? packs.filter { $0.rank == 0 })
    }

    private init(of packs: [LocatedPack]) {
        for ranked in packs {
            for tag in ranked.pack.tags {
                var (rank, priority) = (ranked.rank, ranked.pack.listedPreservation)
                if let known = byTag[tag] {
                    guard rank <= known.rank else { continue }
                    if rank == known.rank { priority = min(priority, known.priority) }
                }
                byTag[tag] = (rank, priority)
            }
        }
    }

    /// From 0 to 1; nil for a tag that no listed pack has.
    subscript(tag: String) -> Double? { byTag[tag]?.priority }

    var tags: some Sequence<String> { byTag.keys }
}

extension PackManifest {
    /// From 0 to 1.
    var listedPreservation: Double { Double(offer.preservation) / 100 }
}
