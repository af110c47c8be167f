public import VaultBase

/// Why a transfer ended early.
public struct TransferFailure: Error {
    public let error: VaultError
    /// Whether the same host would give the same answer again.
    public let isLasting: Bool
    /// How long the host asks to wait.
    public let retryAfter: Duration?

    public init(_ error: VaultError, isLasting: Bool = false, retryAfter: Duration? = nil) {
        self.error = error
        self.isLasting = isLasting
        self.retryAfter = retryAfter
    }
}

/// Counts the failures of one host in a transfer. Bytes make up for a lost connection, but a few of them don't, and neither do all that
/// come too slowly: such a host would keep its client busy for days.
package struct HostFailures: Sendable {
    package let meter: ThroughputMeter
    private var lost = 0
    /// Bytes since the count began.
    private var progress: UInt64 = 0

    /// The number of bytes that begins the count anew.
    private static let worthwhile: UInt64 = 64 << 10

    package init(_ meter: ThroughputMeter = ThroughputMeter()) { self.meter = meter }

    /// Failures that count.
    package var count: Int { max(lost, meter.slowWindows) }

    package mutating func note(bytes: UInt64) {
        progress += bytes
        if progress >= Self.worthwhile { (progress, lost) = (0, 0) }
    }

    /// Counts a failure.
    ///
    /// - Parameter bytes: what came before it.
    package mutating func noteFailure(after bytes: UInt64 = 0) {
        note(bytes: bytes)
        lost += 1
    }
}

/// When to retry a failed transfer: exponential backoff with jitter, so that the clients of a host that recovers don't
/// all return at once.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, the first included.
    public var attempts: Int = 5
    /// The maximum backoff before the second attempt; it doubles with each further one.
    public var firstBackoff: Duration = .milliseconds(500)
    /// The maximum backoff; a wait that the host requested is added to it.
    public var longestBackoff: Duration = .seconds(30)
    /// The maximum wait that a host may request; more ends the attempts.
    public var longestRequestedWait: Duration = .seconds(120)

    public init() {}

    /// The wait before the next attempt; nil when none should be made.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts, this one included.
    ///   - retryAfter: The wait that the host requested; the backoff is added to it.
    public func delay(
        afterFailures failures: Int, _ error: VaultError, retryAfter: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let requested = retryAfter ?? .zero
        guard Self.isWorthRetrying(error), failures < attempts, requested <= longestRequestedWait
        else { return nil }
        let doublings = max(0, min(failures - 1, 30))
        let longest = min(firstBackoff * (1 << doublings), longestBackoff)
        return requested + longest * Double.random(in: 0.5...1, using: &generator)
    }

    /// Waits before the next attempt. Throws the failure where none should be made, and when the task is cancelled.
    ///
    /// - Parameter failures: the number of failed attempts, this one included.
    package func wait(after failure: TransferFailure, failures: Int, at location: SiteLocation)
        async throws(VaultError)
    {
        var generator = SystemRandomNumberGenerator()
        guard !failure.isLasting,
            let pause = delay(
                afterFailures: failures, failure.error, retryAfter: failure.retryAfter, using: &generator)
        else { throw failure.error }
        do { try await Task.sleep(for: pause) } catch { throw VaultError.cancelled(location.description) }
    }

    /// The same for a host whose failures are counted. A pause that it asks for counts as slowness.
    package func wait(
        after failure: TransferFailure, _ failures: HostFailures, at location: SiteLocation
    ) async throws(VaultError) {
        failures.meter.count(pause: failure.retryAfter ?? .zero)
        try await wait(after: failure, failures: failures.count, at: location)
    }

    /// Whether another attempt may succeed: only where the host or the network failed.
    public static func isWorthRetrying(_ error: VaultError) -> Bool {
        error.category == .unavailable || error.category == .unreachable
    }
}
