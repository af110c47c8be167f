/// A listed pack that this release can't read, such as one of a later format.
public struct SkippedPack: Sendable, Hashable {
    /// Among the site's targets.
    public let path: String
    public let reason: String
}
