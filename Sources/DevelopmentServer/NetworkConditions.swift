/// A bad network or host to try an app with. What fails at random follows from the seed.
public struct NetworkConditions: Sendable {
    /// Of all connections together; nil for no limit.
    public var bytesPerSecond: UInt64?
    /// Before each response.
    public var latency = Duration.zero
    /// Bytes of a body after which the connection ends; nil for never.
    public var failAfter: UInt64?
    /// Bytes that are missing at the end of each pack's file.
    public var truncation: UInt64 = 0
    /// Whether the site's timestamp stays as it is at the start, as if an old copy were served.
    public var isStale = false
    /// The time after which all connections end and none begins; nil for never.
    public var offlineAfter: Duration?
    /// The part of requests that fail with status 503, from 0 to 1.
    public var errorRate = 0.0
    public var seed: UInt64 = 1

    public init() {}
}
