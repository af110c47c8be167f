public import VaultErrors

/// Limits how many tasks do something at a time.
public final class AsyncSemaphore: Sendable {
    private let free: AwaitableValue<Int>

    public init(_ count: Int) { free = AwaitableValue(max(1, count)) }

    /// Runs `body` with a permit. Throws when the task is cancelled before.
    public func withPermit<R>(
        for place: String, _ body: () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        try await acquire(for: place)
        defer { release() }
        return try await body()
    }

    /// Waits for a permit, to be released by ``release()``. Throws when the task is cancelled before.
    public func acquire(for place: String) async throws(VaultError) {
        let isAcquired: Bool? = await free.wait { free in
            guard free > 0 else { return nil }
            free -= 1
            return true
        }
        guard isAcquired != nil else { throw VaultError.cancelled(place) }
    }

    public func release() { free.change { $0 += 1 } }
}
