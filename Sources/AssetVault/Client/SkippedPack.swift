/// What a site lists where a pack would be, and this release can't read, such as a pack of a later format.
public struct SkippedPack: Sendable, Hashable {
    /// Among the site's targets.
    public let path: String
    public let reason: String
}
