import SealedPack
import UpdateFramework
import VaultErrors
import VaultSite

/// Packs of requested tags that only a newer release can read: a request without them would be answered in part.
struct UnreadablePacks {
    private var skipped: [PublishedPacks.Skipped] = []

    /// Adds those that have one of the tags, as far as their records or the site's names say.
    ///
    /// - Parameter isIndexed: whether the site's index of tags says that they have one.
    mutating func add(
        _ packs: PublishedPacks, of tags: Set<String>, isIndexed: Bool = false, _ names: PackNames?
    ) {
        skipped += packs.skipped.filter { pack in
            guard pack.needsNewerRelease, let id = PackID(targetPath: pack.path) else { return false }
            let known = names?[listed: id]?.offer.tags ?? pack.tags
            return isIndexed || known.contains(where: tags.contains)
        }
    }

    /// Which pack can't be read; nil where all can.
    var error: VaultError? {
        skipped.first.map { .unsupportedFormat("it has a requested tag, and \($0.reason)", at: $0.path) }
    }
}
