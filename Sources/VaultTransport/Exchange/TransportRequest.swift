/// One question to a site: a file, or a part of it.
public struct TransportRequest: Sendable {
    public var location: SiteLocation
    /// The part that is wanted; nil asks for the whole file.
    public var range: ByteRange?
    /// Sends the part only while the file is still the one with this tag, else the whole (`If-Range`).
    public var ifRange: EntityTag?
    /// The most bytes that a body may have, the whole file's when the host ignores `range`: one more is an error.
    public var limit: UInt64
    /// The only hosts that may be asked, by redirects too, whatever else the transport allows; nil for all of these.
    public var allowedHosts: AllowedHosts?
    /// Shared by all requests that one transfer makes to a host; by default each answer is measured by itself.
    public var meter = ThroughputMeter()

    public init(
        _ location: SiteLocation, range: ByteRange? = nil, ifRange: EntityTag? = nil, limit: UInt64
    ) {
        self.location = location
        self.range = range
        self.ifRange = ifRange
        self.limit = limit
    }
}
