import Synchronization
import Testing

@testable import VaultBase

/// What a caller leaves to others.
struct ParallelismTests {
    /// The largest number of inputs that were worked on at a time.
    private func largestWidth(of count: Int, limit: @escaping @Sendable (_ started: Int) -> Int) async throws
        -> Int
    {
        let state = Mutex((running: 0, largest: 0, started: 0))
        try await Parallelism.$limit.withValue(Parallelism.Limit { limit(state.withLock { $0.started }) }) {
            try await runInOrder(
                0..<count, width: 4,
                work: { (number: Int) throws(VaultError) in
                    state.withLock { state in
                        state.running += 1
                        state.started += 1
                        state.largest = max(state.largest, state.running)
                    }
                    try? await Task.sleep(for: .milliseconds(2))
                    state.withLock { $0.running -= 1 }
                    return number
                }, deliver: { _ in })
        }
        return state.withLock { $0.largest }
    }

    @Test func theLimitHolds() async throws {
        #expect(try await largestWidth(of: 20) { _ in 1 } == 1)
        #expect(try await largestWidth(of: 40) { _ in .max } == 4)
        // One at least: work that can't go on would hold its caller for ever.
        #expect(try await largestWidth(of: 5) { _ in 0 } == 1)
    }

    /// It is asked for again, as priorities change.
    @Test func theLimitChanges() async throws {
        #expect(try await largestWidth(of: 60) { $0 < 20 ? 1 : .max } == 4)
    }
}
