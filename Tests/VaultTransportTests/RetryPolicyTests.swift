import Sampling
import Testing
import VaultBase
import VaultTransport

@Suite struct RetryPolicyTests {
    private static let failing = VaultError(.unavailable, "down", at: "host", remedy: "wait")

    @Test func delaysDoubleUpToTheLongest() {
        var policy = RetryPolicy()
        policy.attempts = 100
        policy.firstBackoff = .seconds(1)
        policy.longestBackoff = .seconds(10)
        var random = SeededGenerator(for: "RetryPolicyTests")
        for (failures, longest) in [(1, 1.0), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (64, 10), (99, 10)] {
            let waits = (0..<200).compactMap { _ in
                policy.delay(afterFailures: failures, Self.failing, using: &random).map { $0 / .seconds(1) }
            }
            #expect(waits.count == 200)
            #expect(waits.allSatisfy { (longest / 2...longest).contains($0) }, "after \(failures)")
            // Jitter: not all clients return at once.
            #expect(Set(waits).count > 100)
        }
    }

    @Test func attemptsAreLimited() {
        var policy = RetryPolicy()
        policy.attempts = 3
        var random = SeededGenerator(for: "RetryPolicyTests")
        #expect(policy.delay(afterFailures: 2, Self.failing, using: &random) != nil)
        #expect(policy.delay(afterFailures: 3, Self.failing, using: &random) == nil)
    }

    /// The host's delay is added, and clients don't all return at once.
    @Test func addsTheRequestedDelay() {
        var random = SeededGenerator(for: "RetryPolicyTests")
        let waits = (0..<200).compactMap { _ in
            RetryPolicy().delay(
                afterFailures: 1, Self.failing, retryAfter: .seconds(60), using: &random)
        }
        #expect(waits.count == 200)
        #expect(waits.allSatisfy { (.seconds(60)...(.seconds(61))).contains($0) })
        #expect(Set(waits).count > 100)
    }

    @Test func givesUpWhenTheRequestedDelayIsTooLong() {
        var policy = RetryPolicy()
        policy.longestRequestedWait = .seconds(10)
        var random = SeededGenerator(for: "RetryPolicyTests")
        for (seconds, isWorthIt) in [(10, true), (11, false), (UInt32.max, false)] {
            let delay = policy.delay(
                afterFailures: 1, Self.failing, retryAfter: .seconds(seconds), using: &random)
            #expect((delay != nil) == isWorthIt)
        }
    }

    @Test(arguments: VaultError.Category.allCases)
    func retriesOnlyUnavailable(category: VaultError.Category) {
        var random = SeededGenerator(for: "RetryPolicyTests")
        let error = VaultError(category, "x", at: "y", remedy: "z")
        let delay = RetryPolicy().delay(afterFailures: 1, error, using: &random)
        #expect((delay != nil) == [.unavailable, .unreachable].contains(category))
    }
}
