public import SealedPack

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: those that a client fetches without being asked.
    case automatic
    case all
    case only([PackID])
    /// Packs with any of these tags, wanted as much as if named.
    case tagged(Set<String>)

    /// The priority of the selection when the caller gives none.
    var priority: LoadingPriority {
        if case .automatic = self { .whenIdle } else { .standard }
    }

    /// True unless the selection is by tags and the pack has none of them.
    func mayTake(_ pack: PackManifest) -> Bool {
        guard case .tagged(let tags) = self else { return true }
        return pack.tags.contains(where: tags.contains)
    }
}

/// A listed pack that this release can't read, such as one of a later format.
public struct SkippedPack: Sendable, Hashable {
    /// Its path among the site's targets.
    public let path: String
    public let reason: String
}
