/// Something that the publisher of a site should know.
public protocol SiteNotice: Sendable {
    /// As a clause without a full stop.
    var problem: String { get }
    /// What to do, as a clause without a full stop.
    var remedy: String { get }
}
