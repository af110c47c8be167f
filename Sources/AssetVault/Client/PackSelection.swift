public import SealedPack

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: those that a client fetches without being asked.
    case automatic
    case all
    case only([PackID])
    /// Packs with any of these tags, as if each were named.
    case tagged(Set<String>)
}
