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
    /// The longest wait that a host may ask for; for more, nobody stays.
    public var retryAfterCeiling: Duration = .seconds(120)

    public init() {}

    /// How long to wait before trying again; nil when that would be no use.
    ///
    /// - Parameters:
    ///   - failures: How many tries have failed, the one with this error included.
    ///   - retryAfter: How long the host asked to wait; the backoff comes on top of it.
    public func delay(
        afterFailures failures: Int, _ error: VaultError, retryAfter: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let asked = retryAfter ?? .zero
        guard Self.isWorthRetrying(error), failures < attempts, asked <= retryAfterCeiling else { return nil }
        let doublings = max(0, min(failures - 1, 30))
        let longest = min(base * (1 << doublings), ceiling)
        return asked + longest * Double.random(in: 0.5...1, using: &generator)
    }

    /// Whether the same question may have another answer: only where the host or the way to it failed.
    public static func isWorthRetrying(_ error: VaultError) -> Bool { error.category == .unavailable }
}
