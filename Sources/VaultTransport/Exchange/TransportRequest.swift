public import VaultErrors

/// A request for a file, or a part of it.
public struct TransportRequest: Sendable {
    public var location: SiteLocation
    /// The requested part; nil requests the whole file.
    public var range: ByteRange?
    /// The part is sent only if the file still has this tag, else the whole file (`If-Range`).
    public var ifRange: EntityTag?
    /// The maximum length of the body in bytes; where the host ignores `range`, that is the whole file's.
    public var limit: UInt64
    /// The only hosts that may be contacted, by redirects too; nil for all that the transport allows.
    public var allowedHosts: AllowedHosts?
    /// Shared by all requests of one transfer to a host; by default each response is measured by itself.
    public var meter = ThroughputMeter()

    /// Called with the most bytes that come of a body that nobody reads, such as that of a redirect, before they do; an error from
    /// it ends the request.
    public var willDiscard: @Sendable (UInt64) throws(VaultError) -> Void = { _ throws(VaultError) in }

    public init(
        _ location: SiteLocation, range: ByteRange? = nil, ifRange: EntityTag? = nil, limit: UInt64
    ) {
        self.location = location
        self.range = range
        self.ifRange = ifRange
        self.limit = limit
    }
}
