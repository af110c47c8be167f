/// Timeouts and limits: every wait ends, so that a hostile host can't block a client.
public struct TransportLimits: Sendable {
    /// To establish a connection, TLS included.
    public var connect: Duration = .seconds(10)
    /// From a request to the complete head of its response; each redirect restarts it.
    public var response: Duration = .seconds(30)
    /// Between two arrivals of bytes. A reader that pauses longer loses the connection too.
    public var idle: Duration = .seconds(30)
    /// The minimum average rate, in bytes per second of waiting, once `grace` is over.
    public var bytesPerSecond: Int = 1024
    /// The waiting time over which the rate is averaged.
    public var window: Duration = .seconds(60)
    /// The waiting time at the start of a transfer that is not measured.
    public var grace: Duration = .seconds(30)
    /// The maximum number of redirects per request.
    public var redirects: Int = 5
    /// The maximum number of connections per host; further requests wait up to `connect` for one of them.
    public var connectionsPerHost: Int = 32

    public init() {}
}
