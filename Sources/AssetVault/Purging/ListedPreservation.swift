import SealedPack

/// How long the packs of each tag stay according to the site. The site's own packs decide, if any has the tag; else those of the
/// first team that has it. Of these the lowest counts: the tag as a whole should not outlast what its publisher keeps least.
struct ListedPreservation {
    private var byTag: [String: (rank: Int, priority: Double)] = [:]

    init() {}

    init(of packs: [RankedPack]) {
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
