public import VaultErrors

/// When a failed transfer is worth another try, and how long to wait before it: exponential backoff with
/// jitter, so that the clients of a host that comes back don't all return at once.
public struct RetryPolicy: Sendable {
    /// How many tries there are in all, the first included.
    public var attempts: Int = 5
    /// The longest wait before the second try; it doubles with each further one.
    public var base: Duration = .milliseconds(500)
    /// The longest wait of all.
    public var ceiling: Duration = .seconds(30)

    public init() {}

    /// How long to wait before trying again; nil when that would be no use.
    ///
    /// - Parameter failures: How many tries have failed, the one with this error included.
    public func delay(
        afterFailures failures: Int, _ error: VaultError, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard Self.isWorthRetrying(error), failures < attempts else { return nil }
        let doublings = max(0, min(failures - 1, 30))
        let longest = min(base * (1 << doublings), ceiling)
        return longest * Double.random(in: 0.5...1, using: &generator)
    }

    /// Whether the same question may have another answer: only where the host or the way to it failed.
    public static func isWorthRetrying(_ error: VaultError) -> Bool { error.category == .unavailable }
}
