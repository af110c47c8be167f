/// How long a host may take. Every wait has an end, so that a hostile host can't hold a client for ever.
public struct TransportLimits: Sendable {
    /// Until a connection stands, TLS included.
    public var connect: Duration = .seconds(10)
    /// From a request until the head of its answer is complete; each redirect begins anew.
    public var response: Duration = .seconds(30)
    /// Between two arrivals of bytes. A reader who pauses longer loses the connection, too.
    public var idle: Duration = .seconds(30)
    /// The least that must arrive on average, in bytes a second of waiting, once `grace` is over.
    public var bytesPerSecond: Int = 1024
    /// The waiting over which the average is taken.
    public var window: Duration = .seconds(60)
    /// The waiting at the start of a transfer that does not count.
    public var grace: Duration = .seconds(30)
    /// How many redirects are followed for one request.
    public var redirects: Int = 5
    /// Connections to one host at a time; further requests wait for one of them, up to `connect`.
    public var connectionsPerHost: Int = 32

    public init() {}
}
