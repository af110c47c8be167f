public import SealedPack

/// Which packs to fetch.
public enum PackSelection: Sendable {
    /// Essential and prefetch packs: what a client has without being asked.
    case automatic
    case all
    case only([PackID])
    /// Those that bear any of these tags, as if each were named.
    case tagged(Set<String>)
}
