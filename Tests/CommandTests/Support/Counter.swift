import Synchronization

/// Hands out consecutive numbers.
final class Counter: Sendable {
    private let last = Mutex(0)

    /// How many were given out.
    var count: Int { last.withLock { $0 } }

    func next() -> Int {
        last.withLock {
            $0 += 1
            return $0
        }
    }
}
